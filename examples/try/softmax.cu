// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The softmax at the end of docs/tutorial/your_kernel.md.
//   ./grade try softmax examples/try/softmax.cu
#include <cfloat>
#include <cstdint>
#include <cuda_runtime.h>

constexpr int kThreads = 128;

// One block computes one row.
__global__ void softmax_rows(const float* x, float* y, int64_t cols) {
  __shared__ float shared[kThreads];
  const int tid = threadIdx.x;
  x += blockIdx.x * cols;
  y += blockIdx.x * cols;
  const int64_t begin = tid, end = cols, step = kThreads;

  float largest = -INFINITY;
  for (int64_t i = begin; i < end; i += step) largest = fmaxf(largest, x[i]);
  shared[tid] = largest;
  __syncthreads();
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (tid < s) shared[tid] = fmaxf(shared[tid], shared[tid + s]);
    __syncthreads();
  }
  largest = shared[0];
  __syncthreads();

  float sum = 0;
  for (int64_t i = begin; i < end; i += step) sum += expf(x[i] - largest);
  shared[tid] = sum;
  __syncthreads();
  for (int s = kThreads / 2; s > 0; s /= 2) {
    if (tid < s) shared[tid] += shared[tid + s];
    __syncthreads();
  }
  sum = shared[0];

  for (int64_t i = begin; i < end; i += step) y[i] = expf(x[i] - largest) / sum;
}

extern "C" void softmax_f32(const float* x, float* y, int64_t rows, int64_t cols,
                            cudaStream_t stream) {
  if (rows > 0) softmax_rows<<<rows, kThreads, 0, stream>>>(x, y, cols);
}
