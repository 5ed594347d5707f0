// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmaxes that are right and cost more than they must: threads that read far from their
// neighbours, or, with SPILLS, more values than there are registers.
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>

namespace {

constexpr int kThreads = 256;

struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

template <class Op>
__device__ float over_block(float value, Op op) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width)
      shared[threadIdx.x] = op(shared[threadIdx.x], shared[threadIdx.x + width]);
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

#ifdef SPILLS

constexpr int kKept = 48; // values of each thread, where 32 registers are all that it may use

__global__ void __launch_bounds__(1024, 2) keeps_too_much(const float* x, float* y, int64_t cols) {
  const float* const row = x + blockIdx.x * cols;
  const int64_t rest = int64_t{kKept} * kThreads + threadIdx.x;
  float kept[kKept], largest = -INFINITY;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int64_t i = int64_t{k} * kThreads + threadIdx.x;
    kept[k] = i < cols ? row[i] : -INFINITY;
    largest = fmaxf(largest, kept[k]);
  }
  for (int64_t i = rest; i < cols; i += kThreads) largest = fmaxf(largest, row[i]);
  largest = over_block(largest, Max());
  float sum = 0;
#pragma unroll
  for (int k = 0; k < kKept; ++k) sum += kept[k] = expf(kept[k] - largest);
  for (int64_t i = rest; i < cols; i += kThreads) sum += expf(row[i] - largest);
  sum = over_block(sum, Sum());
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int64_t i = int64_t{k} * kThreads + threadIdx.x;
    if (i < cols) y[blockIdx.x * cols + i] = kept[k] / sum;
  }
  for (int64_t i = rest; i < cols; i += kThreads)
    y[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
}

#else

// Each thread has a stretch of the row for itself, and a warp reads 32 places at once.
__global__ void reads_apart(const float* x, float* y, int64_t cols) {
  const float* const row = x + blockIdx.x * cols;
  const int64_t share = (cols + kThreads - 1) / kThreads, first = threadIdx.x * share;
  const int64_t last = first + share < cols ? first + share : cols;
  float largest = -INFINITY, sum = 0;
  for (int64_t i = first; i < last; ++i) largest = fmaxf(largest, row[i]);
  largest = over_block(largest, Max());
  for (int64_t i = first; i < last; ++i) sum += expf(row[i] - largest);
  sum = over_block(sum, Sum());
  for (int64_t i = first; i < last; ++i) y[blockIdx.x * cols + i] = expf(row[i] - largest) / sum;
}

#endif

} // namespace

extern "C" void softmax_f32(const float* x, float* y, int64_t rows, int64_t cols,
                            cudaStream_t stream) {
  if (rows * cols == 0) return;
  const unsigned blocks = static_cast<unsigned>(rows);
#ifdef SPILLS
  keeps_too_much<<<blocks, kThreads, 0, stream>>>(x, y, cols);
#else
  reads_apart<<<blocks, kThreads, 0, stream>>>(x, y, cols);
#endif
}
