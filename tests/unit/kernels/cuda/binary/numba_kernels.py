# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# numba_kernels.py [WRONG]: Numba's examples of an addition, a product of matrices by tiles, a sum in shared memory, and a barrier of the
# grid, for `kernelgrade emulate -- python3`. WRONG is `barrier`, a sum without a barrier, or `grid`, a grid without one.
import sys

import numpy as np
from numba import cuda, float32

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""
TOGETHER = WRONG != "grid"
BARRIER = WRONG != "barrier"
TILE = 16


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] + y[i]


@cuda.jit
def multiply(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for i in range(a.shape[1] // TILE):
        tile_a[ty, tx] = a[y, tx + i * TILE]
        tile_b[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += tile_a[ty, j] * tile_b[j, tx]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def block_sum(data, out):
    shared = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    shared[i] = data[i]
    if BARRIER:
        cuda.syncthreads()
    half = 64
    while half > 0:
        if i < half:
            shared[i] += shared[i + half]
        cuda.syncthreads()
        half //= 2
    if i == 0:
        out[0] = shared[0]


@cuda.jit
def rotate(data):
    """Each element gets its right neighbour's value, twice."""
    grid = cuda.cg.this_grid()
    i = cuda.grid(1)
    for _ in range(2):
        value = data[(i + 1) % data.size]
        if TOGETHER:
            grid.sync()
        data[i] = value
        grid.sync()


random = np.random.default_rng(0)
x = random.random(100000, np.float32)
total = cuda.device_array_like(x)
add[(x.size + 255) // 256, 256](cuda.to_device(x), cuda.to_device(x), total)
right = np.array_equal(total.copy_to_host(), x + x)

a, b = random.random((64, 32), np.float32), random.random((32, 48), np.float32)
c = cuda.device_array((64, 48), np.float32)
multiply[(3, 4), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
right &= np.allclose(c.copy_to_host(), a @ b, rtol=1e-5)

out = cuda.device_array(1, np.float32)
block_sum[1, 128](cuda.to_device(x[:128]), out)
right &= np.allclose(out.copy_to_host()[0], x[:128].sum(), rtol=1e-5)
data = cuda.to_device(np.arange(256, dtype=np.int32))
rotate[4, 64](data)
right &= np.array_equal(data.copy_to_host(), np.roll(np.arange(256), -2))
print("right" if right else "wrong")
