// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "sums.h"

#include <cuda_runtime.h>

constexpr int kBlock = 64;

__global__ void sums(float* data) {
  __shared__ float values[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  values[threadIdx.x] = data[i];
#ifndef STRANGER_RACE
  __syncthreads();
#endif
  float sum = 0;
  for (int j = 0; j < kBlock; ++j) sum += values[(threadIdx.x + j) % kBlock];
  data[i] = sum;
}

void sums_of_blocks(float* data, int count) {
  sums<<<count / kBlock, kBlock>>>(data);
  cudaDeviceSynchronize();
}
