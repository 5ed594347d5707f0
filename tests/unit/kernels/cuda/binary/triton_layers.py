# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# triton_layers.py [WRONG]: the layers of Triton's tutorials "Matrix Multiplication", "Low-Memory Dropout", "Layer Normalization", "Fused
# Attention" and "Libdevice", with NumPy arrays, for `kernelgrade emulate -- python3`. WRONG is `mask`, a product that reads one row too
# many, or `lock`, a sum of gradients that takes no lock.
import sys

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime import driver
from triton_tensor import Tensor

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, extra: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """C = leaky_relu(A B). GROUP_M rows of blocks share columns of B in the L2 cache."""
    pid, rows, columns = tl.program_id(0), tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = pid // (GROUP_M * columns) * GROUP_M
    height = min(rows - first, GROUP_M)
    i = (first + pid % (GROUP_M * columns) % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    j = pid % (GROUP_M * columns) // height * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    sum = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        part_a = tl.load(a + i[:, None] * K + start + k[None, :], mask=(i[:, None] < M) & (start + k[None, :] < K), other=0)
        part_b = tl.load(b + (start + k[:, None]) * N + j[None, :], mask=(start + k[:, None] < K + extra) & (j[None, :] < N), other=0)
        sum = tl.dot(part_a, part_b, sum)
    tl.store(c + i[:, None] * N + j[None, :], leaky_relu(sum).to(tl.float16), mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def dropout_kernel(x, y, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(y + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def layer_norm_kernel(x, y, weight, bias, means, rstds, N, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * N + i, mask=i < N, other=0)
    mean = tl.sum(values, axis=0) / N
    centred = tl.where(i < N, values - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / N + eps)
    tl.store(means + row, mean)
    tl.store(rstds + row, rstd)
    normal = centred * rstd * tl.load(weight + i, mask=i < N) + tl.load(bias + i, mask=i < N)
    tl.store(y + row * N + i, normal, mask=i < N)


@triton.jit
def layer_norm_backward_kernel(dx, dy, dw, x, weight, means, rstds, locks, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr, LOCKED: tl.constexpr):
    """Rows of one group add their part of dw in turns, under a lock. The lock at + GROUPS tells whether a row came before."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    mask = i < N
    mean, rstd = tl.load(means + row), tl.load(rstds + row)
    xhat = tl.where(mask, (tl.load(x + row * N + i, mask=mask, other=0) - mean) * rstd, 0.0)
    gradient = tl.load(dy + row * N + i, mask=mask, other=0)
    wdy = tl.load(weight + i, mask=mask, other=0) * gradient
    c1, c2 = tl.sum(xhat * wdy, axis=0) / N, tl.sum(wdy, axis=0) / N
    tl.store(dx + row * N + i, (wdy - (xhat * c1 + c2)) * rstd, mask=mask)
    lock = locks + row % GROUPS
    part = gradient * xhat
    if LOCKED:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
    sums = dw + row % GROUPS * N + i
    if tl.load(lock + GROUPS) == 0:
        tl.atomic_xchg(lock + GROUPS, 1)
    else:
        part += tl.load(sums, mask=mask)
    tl.store(sums, part, mask=mask)
    tl.debug_barrier()
    if LOCKED:
        tl.atomic_xchg(lock, 0)


@triton.jit
def attention_kernel(q, k, v, out, scale, N, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """One block of rows of softmax(q k^T scale) v, causal, with a running maximum and sum."""
    block, head = tl.program_id(0), tl.program_id(1) * N * D
    i, d = block * BLOCK_M + tl.arange(0, BLOCK_M), tl.arange(0, D)
    rows = tl.load(q + head + i[:, None] * D + d[None, :])
    most, sum = tl.full((BLOCK_M,), float("-inf"), tl.float32), tl.zeros((BLOCK_M,), tl.float32)
    result = tl.zeros((BLOCK_M, D), tl.float32)
    for start in range(0, (block + 1) * BLOCK_M, BLOCK_N):
        j = start + tl.arange(0, BLOCK_N)
        scores = tl.dot(rows, tl.load(k + head + j[None, :] * D + d[:, None])) * (scale * 1.44269504)
        scores = tl.where(i[:, None] >= j[None, :], scores, -1.0e6)
        higher = tl.maximum(most, tl.max(scores, 1))
        weights, shrink = tl.math.exp2(scores - higher[:, None]), tl.math.exp2(most - higher)
        sum = sum * shrink + tl.sum(weights, 1)
        result = tl.dot(weights.to(tl.float16), tl.load(v + head + j[:, None] * D + d[None, :]), result * shrink[:, None])
        most = higher
    tl.store(out + head + i[:, None] * D + d[None, :], (result / sum[:, None]).to(tl.float16))


@triton.jit
def asin_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, libdevice.asin(tl.load(x + i, mask=i < n)), mask=i < n)


driver.active.get_current_device()
random = np.random.default_rng(0)
right = {}

# Half has 11 bits: the result is rounded by 2^-11 of itself. Sums of 152 products in single precision differ by much less.
M, N, K = 130, 100, 152
a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((M, K), (K, N)))
product = Tensor(np.zeros((M, N), np.float16))
matmul_kernel[(triton.cdiv(M, 64) * triton.cdiv(N, 32),)](Tensor(a), Tensor(b), product, M, N, K, int(WRONG == "mask"), BLOCK_M=64, BLOCK_N=32,
                                                         BLOCK_K=32, GROUP_M=2)
expected = a.astype(np.float32) @ b.astype(np.float32)
expected = np.where(expected >= 0, expected, 0.01 * expected)
right["matmul"] = np.allclose(product.numpy(), expected, rtol=2**-10, atol=1e-4)

n, p = 3000, 0.25
x = random.random(n, np.float32) + 1
kept = []
for seed in (123, 123, 512):
    dropped = Tensor(np.zeros(n, np.float32))
    dropout_kernel[(triton.cdiv(n, 1024),)](Tensor(x), dropped, n, p, seed, BLOCK=1024)
    y = dropped.numpy()
    kept.append(y != 0)
    # Of 3000 elements 2250 stay, with a standard deviation of 24.
    right["dropout"] = right.get("dropout", True) and abs(kept[-1].sum() - 2250) < 6 * 24 and np.allclose(y[kept[-1]], x[kept[-1]] / (1 - p), rtol=1e-6)
right["seeds"] = np.array_equal(kept[0], kept[1]) and not np.array_equal(kept[0], kept[2])

# Sums of 200 numbers of size 1, in single precision: 200 x 2^-24 = 1.2e-5.
rows, columns, groups = 24, 200, 4
x, dy = (random.standard_normal((rows, columns)).astype(np.float32) for _ in range(2))
weight, bias = random.random(columns, np.float32), random.random(columns, np.float32)
y, mean, rstd = Tensor(np.zeros_like(x)), Tensor(np.zeros(rows, np.float32)), Tensor(np.zeros(rows, np.float32))
of_x, of_weight = Tensor(x), Tensor(weight)
layer_norm_kernel[(rows,)](of_x, y, of_weight, Tensor(bias), mean, rstd, columns, 1e-5, BLOCK=256)
deviation = np.sqrt(x.var(axis=1, keepdims=True, dtype=np.float64) + 1e-5)
xhat = (x - x.mean(axis=1, keepdims=True, dtype=np.float64)) / deviation
right["layer norm"] = np.allclose(y.numpy(), xhat * weight + bias, rtol=1e-5, atol=2e-5)

dx, dw = Tensor(np.zeros_like(x)), Tensor(np.zeros((groups, columns), np.float32))
layer_norm_backward_kernel[(rows,)](dx, Tensor(dy), dw, of_x, of_weight, mean, rstd, Tensor(np.zeros(2 * groups, np.int32)), columns, GROUPS=groups,
                                    BLOCK=256, LOCKED=WRONG != "lock")
wdy = weight * dy.astype(np.float64)
expected = (wdy - (xhat * (xhat * wdy).mean(axis=1, keepdims=True) + wdy.mean(axis=1, keepdims=True))) / deviation
right["layer norm backward"] = np.allclose(dx.numpy(), expected, rtol=1e-5, atol=2e-5)
right["layer norm weights"] = np.allclose(dw.numpy().sum(axis=0), (dy * xhat).sum(axis=0), rtol=1e-5, atol=2e-5)

# Weights and results are rounded to half: 2^-11 of values up to 4, twice.
heads, length, width = 2, 128, 32
q, k, v = (random.standard_normal((heads, length, width)).astype(np.float16) for _ in range(3))
out = Tensor(np.zeros_like(q))
attention_kernel[(length // 64, heads)](Tensor(q), Tensor(k), Tensor(v), out, width**-0.5, length, D=width, BLOCK_M=64, BLOCK_N=32)
scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) * width**-0.5
scores = np.where(np.tril(np.ones((length, length))) > 0, scores, -np.inf)
weights = np.exp(scores - scores.max(axis=2, keepdims=True))
right["attention"] = np.allclose(out.numpy(), weights / weights.sum(axis=2, keepdims=True) @ v.astype(np.float64), atol=4 * 2**-10)

x = random.random(1000, np.float32) * 2 - 1
y = Tensor(np.zeros_like(x))
asin_kernel[(1,)](Tensor(x), y, 1000, BLOCK=1024)
right["libdevice"] = np.allclose(y.numpy(), np.arcsin(x), rtol=1e-6)
print("right" if all(right.values()) else f"wrong: {right}")
