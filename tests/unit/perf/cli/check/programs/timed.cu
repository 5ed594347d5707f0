// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Timed before its kernel has ended, and atomics on one address.
#include <chrono>

__global__ void count(int* total) { atomicAdd(total, 1); }

int main() {
  int* total;
  cudaMalloc(&total, sizeof(int));
  cudaMemset(total, 0, sizeof(int));
  const auto before = std::chrono::steady_clock::now();
  count<<<64, 128>>>(total);
  const auto after = std::chrono::steady_clock::now();
  cudaDeviceSynchronize();
  cudaFree(total);
  return before < after ? 0 : 1;
}
