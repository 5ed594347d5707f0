// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A layer norm as somebody else might hand it in, with all that is optional.
#include <cstdint>
#include <cuda_runtime.h>

namespace {

constexpr int kThreads = 128;

__device__ float sum_over_block(float value) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = value;
  __syncthreads();
  for (int width = kThreads / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) shared[threadIdx.x] += shared[threadIdx.x + width];
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

// One block per row.
__global__ void layernorm_rows(const float* x, const float* gamma, const float* beta, float* y,
                               float* mean, float* rstd, float epsilon, int64_t cols) {
  const float* const row = x + blockIdx.x * cols;
  float sum = 0;
  for (int64_t i = threadIdx.x; i < cols; i += kThreads) sum += row[i];
  const float middle = sum_over_block(sum) / static_cast<float>(cols);
  float squares = 0;
  for (int64_t i = threadIdx.x; i < cols; i += kThreads)
    squares += (row[i] - middle) * (row[i] - middle);
  const float scale = rsqrtf(sum_over_block(squares) / static_cast<float>(cols) + epsilon);
  for (int64_t i = threadIdx.x; i < cols; i += kThreads)
    y[blockIdx.x * cols + i] =
        (row[i] - middle) * scale * (gamma ? gamma[i] : 1.0F) + (beta ? beta[i] : 0.0F);
  if (threadIdx.x == 0) {
    if (mean) mean[blockIdx.x] = middle;
    if (rstd) rstd[blockIdx.x] = scale;
  }
}

} // namespace

extern "C" void layernorm_f32(const float* x, const float* gamma, const float* beta, float* y,
                              float* mean, float* rstd, float epsilon, int64_t rows, int64_t cols,
                              cudaStream_t stream) {
  if (rows * cols == 0) return;
  layernorm_rows<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(x, gamma, beta, y, mean,
                                                                       rstd, epsilon, cols);
}
