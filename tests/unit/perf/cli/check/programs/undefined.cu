// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads of memory that nothing has written, and a shuffle from lanes that take no part. Without a
// macro nothing depends on the values, as in a kernel that loads one element ahead. With DATA,
// BRANCH, INDEX, POLL, ADD or SHUFFLE something does. MANAGED: the host reads the results in place.
// DROPPED: it does not read them.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kThreads = 64;

__global__ void sum_of_two(const float* x, float* sums, int valid) {
  __shared__ float tile[kThreads + 1];
  const int i = threadIdx.x;
  if (i < valid) tile[i] = x[i];
  __syncthreads();
  float ahead = tile[i + 1]; // of the last thread: never written
#ifdef DATA
  sums[i] = tile[i] + ahead;
#elif defined BRANCH
  sums[i] = ahead > 100.0f ? 1.0f : 2.0f;
#elif defined POLL
  while (*static_cast<volatile float*>(&tile[i + 1]) == 0.0f) continue;
  sums[i] = tile[i];
#elif defined ADD
  atomicAdd(&sums[kThreads], 1.0f);
#elif defined INDEX
  sums[i] = tile[static_cast<unsigned>(ahead) % kThreads];
#else
  sums[i] = i + 1 < valid ? tile[i] + ahead : tile[i];
#endif
}

// The same in global memory.
__global__ void next(const float* x, float* y, int valid) {
  const float ahead = x[threadIdx.x + 1];
  y[threadIdx.x] = static_cast<int>(threadIdx.x) + 1 < valid ? ahead : 0.0f;
}

// The upper 8 of the 24 lanes that call read lanes that do not.
__global__ void fold(float* y) {
  if (threadIdx.x >= 24) return;
  const float above = __shfl_down_sync(0x00ffffff, y[threadIdx.x], 8);
#ifdef SHUFFLE
  y[threadIdx.x] += above;
#else
  if (threadIdx.x < 16) y[threadIdx.x] += above;
#endif
}

int main() {
  float host[kThreads], *x, *y;
  for (int i = 0; i < kThreads; ++i) host[i] = static_cast<float>(i);
  cudaMalloc(&x, (kThreads + 1) * sizeof(float));
#ifdef MANAGED
  cudaMallocManaged(&y, (kThreads + 1) * sizeof(float));
#else
  cudaMalloc(&y, (kThreads + 1) * sizeof(float));
#endif
  cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice);
  next<<<1, kThreads>>>(x, y, kThreads);
  sum_of_two<<<1, kThreads>>>(x, y, kThreads);
  fold<<<1, 32>>>(y);
#ifdef MANAGED
  cudaDeviceSynchronize();
  for (int i = 0; i < kThreads; ++i) host[i] = y[i];
#elif defined DROPPED
  cudaDeviceSynchronize();
#else
  cudaMemcpy(host, y, sizeof(host), cudaMemcpyDeviceToHost);
#endif
  std::printf("%d %.0f\n", static_cast<int>(cudaGetLastError()), host[0]);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
