# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# cupy_kernels.py [WRONG]: kernels as CuPy's guide "User-Defined Kernels" has them (elementwise, reduction, raw, a raw module with
# templates), and CuPy's own functions, for `kernelgrade emulate -- python3`. With an argument, the raw sum lacks a barrier.
import sys

import cupy as cp
import numpy as np

BARRIER = "" if len(sys.argv) > 1 else "__syncthreads();"

squared_diff = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_diff")
l2norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
block_sum = cp.RawKernel(r"""
extern "C" __global__ void block_sum(const float* data, float* out) {
  __shared__ float shared[128];
  const int i = threadIdx.x;
  shared[i] = data[i];
  """ + BARRIER + r"""
  for (int half = 64; half > 0; half /= 2) {
    if (i < half) shared[i] += shared[i + half];
    __syncthreads();
  }
  if (i == 0) *out = shared[0];
}""", "block_sum")
module = cp.RawModule(code=r"""
template <class T> __global__ void scale(const T* x, T* y, T factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i];
}""", options=("-std=c++17",), name_expressions=("scale<float>", "scale<double>"))

random = np.random.default_rng(0)
x, y = random.random((300, 70), np.float32), random.random((300, 70), np.float32)
of_x, of_y = cp.asarray(x), cp.asarray(y)
right = np.array_equal(cp.asnumpy(squared_diff(of_x, of_y)), (x - y) ** 2)
right &= np.allclose(cp.asnumpy(l2norm(of_x, axis=1)), np.linalg.norm(x, axis=1), rtol=1e-5)

out = cp.zeros(1, cp.float32)
block_sum((1,), (128,), (of_x[:2].ravel(), out))
right &= np.allclose(out.get()[0], x[:2].ravel()[:128].sum(), rtol=1e-5)

for dtype in (np.float32, np.float64):
    wide = cp.asarray(x.ravel()[:1000].astype(dtype))
    scaled = cp.empty_like(wide)
    module.get_function(f"scale<{'float' if dtype == np.float32 else 'double'}>")((4,), (256,), (wide, scaled, dtype(3), np.int32(1000)))
    right &= np.array_equal(scaled.get(), 3 * wide.get())

right &= np.allclose(cp.exp(of_x).get(), np.exp(x), rtol=1e-6)
right &= np.allclose(cp.sum(of_x, axis=0).get(), x.sum(axis=0), rtol=1e-5)
right &= np.array_equal(cp.where(of_x > of_y, of_x, of_y).T.get(), np.maximum(x, y).T)
right &= np.array_equal(cp.sort(of_x, axis=1).get(), np.sort(x, axis=1))
right &= np.allclose(cp.cumsum(of_x, dtype=cp.float64).get(), np.cumsum(x, dtype=np.float64))
right &= int(of_x.argmax()) == int(x.argmax())
right &= np.array_equal(cp.unique(cp.asarray([3, 1, 3, 2])).get(), [1, 2, 3])
# The mean of n numbers has a deviation of theirs by the root of n.
right &= abs(float(cp.random.rand(10000).mean()) - 0.5) < 6 * np.sqrt(1 / 12 / 10000)
right &= abs(float(cp.random.randn(10000).mean())) < 6 * np.sqrt(1 / 10000)
print("right" if right else "wrong")
