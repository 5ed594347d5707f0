// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The good twin of timed.cu.
#include <chrono>

__global__ void count(int* total) {
  const int warp = __reduce_add_sync(0xffffffff, 1);
  if (threadIdx.x % 32 == 0) atomicAdd(&total[threadIdx.x / 32], warp);
}

int main() {
  int* total;
  cudaMalloc(&total, 4 * sizeof(int));
  cudaMemset(total, 0, 4 * sizeof(int));
  const auto before = std::chrono::steady_clock::now();
  count<<<64, 128>>>(total);
  cudaDeviceSynchronize();
  const auto after = std::chrono::steady_clock::now();
  cudaFree(total);
  return before < after ? 0 : 1;
}
