# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# pycuda_kernels.py [WRONG]: programs as PyCUDA's examples have them, for `kernelgrade emulate -- python3`: a product of vectors and one of
# matrices by tiles, compiled by nvcc, elementwise kernels and scans on GPUArrays, and events. WRONG is `beyond`, a product of one element
# too many, `barrier`, tiles without a barrier, or `reduction`, a reduction of PyCUDA, whose last warp relies on lanes in step.
import sys

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""
SOURCE = """
__global__ void multiply_them(float* dest, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dest[i] = a[i] * b[i];
}
__global__ void multiply_matrices(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    BARRIER
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}""".replace("BARRIER", "" if WRONG == "barrier" else "__syncthreads();")

random = np.random.default_rng(0)
module = SourceModule(SOURCE, options=["-lineinfo"])
n = 400
a, b = random.random(n, np.float32), random.random(n, np.float32)
dest = np.zeros_like(a)
multiply_them = module.get_function("multiply_them")
multiply_them(cuda.Out(dest), cuda.In(a), cuda.In(b), np.int32(n + (WRONG == "beyond")), block=(128, 1, 1), grid=(4, 1))
right = {"multiply": np.array_equal(dest, a * b)}

# 63 additions and 64 products of positive numbers: a relative error below 64 x 2^-24 < 4e-6 in either result.
matrix_a, matrix_b = random.random((64, 64), np.float32), random.random((64, 64), np.float32)
on_device = gpuarray.to_gpu(matrix_a), gpuarray.to_gpu(matrix_b), gpuarray.empty((64, 64), np.float32)
multiply_matrices = module.get_function("multiply_matrices").prepare("PPPi")
multiply_matrices.prepared_call((4, 4), (16, 16, 1), *(array.gpudata for array in on_device), 64)
right["matrices"] = np.allclose(on_device[2].get(), matrix_a @ matrix_b, rtol=8e-6)

linear_combination = ElementwiseKernel("float a, float* x, float b, float* y, float* z", "z[i] = a * x[i] + b * y[i]", "linear_combination")
x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
z = gpuarray.empty_like(x)
linear_combination(5, x, 6, y, z)
right["elementwise"] = np.allclose(z.get(), 5 * a + 6 * b, rtol=1e-6)
right["arrays"] = np.array_equal((2 * x + y).get(), 2 * a + b)

if WRONG == "reduction":
    dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a + b", map_expr="x[i] * y[i]", arguments="const float* x, const float* y")
    right["reduction"] = np.allclose(dot(x, y).get(), np.dot(a, b), rtol=n * 2**-23)

values = random.integers(0, 100, 5000, np.int32)
scanned = gpuarray.to_gpu(values)
InclusiveScanKernel(np.int32, "a + b")(scanned)
right["scan"] = np.array_equal(scanned.get(), np.cumsum(values))

start, end, stream = cuda.Event(), cuda.Event(), cuda.Stream()
start.record(stream)
multiply_them(cuda.InOut(dest), cuda.In(a), cuda.In(b), np.int32(n), block=(128, 1, 1), grid=(4, 1), stream=stream)
end.record(stream)
end.synchronize()
right["events"] = start.time_till(end) > 0
print("right" if all(right.values()) else f"wrong: {right}")
