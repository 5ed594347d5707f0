# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# triton_tutorials.py [WRONG]: Triton's tutorials "Vector Addition" and "Fused Softmax" with NumPy arrays, for `kernelgrade emulate -- python3`. With an
# argument, the mask of the addition lets one element too many through.
import sys

import numpy as np
import triton
import triton.language as tl
from triton.runtime import driver
from triton_tensor import Tensor


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, extra: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements + extra
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


@triton.jit
def softmax_kernel(output_ptr, input_ptr, input_row_stride, output_row_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr,
                   num_stages: tl.constexpr):
    row_start = tl.program_id(0)
    row_step = tl.num_programs(0)
    for row_idx in tl.range(row_start, n_rows, row_step, num_stages=num_stages):
        col_offsets = tl.arange(0, BLOCK_SIZE)
        mask = col_offsets < n_cols
        row = tl.load(input_ptr + row_idx * input_row_stride + col_offsets, mask=mask, other=-float("inf"))
        numerator = tl.exp(row - tl.max(row, axis=0))
        softmax_output = numerator / tl.sum(numerator, axis=0)
        tl.store(output_ptr + row_idx * output_row_stride + col_offsets, softmax_output, mask=mask)


driver.active.get_current_device()
random = np.random.default_rng(0)

n = 98432
x, y = random.random(n, np.float32), random.random(n, np.float32)
device_x, device_y, output = Tensor(x), Tensor(y), Tensor(np.zeros(n, np.float32))
add_kernel[(triton.cdiv(n, 1024),)](device_x, device_y, output, n, len(sys.argv) - 1, BLOCK_SIZE=1024)
print("add: difference from NumPy", np.abs(output.numpy() - (x + y)).max())

rows, columns = 183, 781
x = random.standard_normal((rows, columns)).astype(np.float32)
device_x2, output2 = Tensor(x), Tensor(np.zeros_like(x))
softmax_kernel[(16,)](output2, device_x2, columns, columns, rows, columns, BLOCK_SIZE=1024, num_stages=2, num_warps=8)
expected = np.exp(x - x.max(axis=1, keepdims=True))
expected /= expected.sum(axis=1, keepdims=True)
difference = np.abs(output2.numpy() - expected).max()
print("softmax: difference from NumPy", difference)
for tensor in (device_x, device_y, output, device_x2, output2):
    tensor.free()
print("right" if difference < 1e-6 else "wrong")
