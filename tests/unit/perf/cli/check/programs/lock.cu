// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock that nobody waits for, as 2 is never in it: a fault that neither the forward nor the
// reverse order of threads shows. REPAIRED: without it.
#include <cstdio>
#include <cuda_runtime.h>

#ifdef REPAIRED
#define TAKEN 1
#else
#define TAKEN 2
#endif

__global__ void add(int* total, int* lock) {
  while (atomicExch(lock, 1) == TAKEN) __nanosleep(20);
  __threadfence();
  *total = *total + 1;
  __threadfence();
  atomicExch(lock, 0);
}

int main() {
  int *total = nullptr, sum = 0;
  cudaMalloc(&total, 2 * sizeof(int));
  cudaMemset(total, 0, 2 * sizeof(int));
  add<<<8, 32>>>(total, total + 1);
  cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(total);
  std::printf("total %d\n", sum);
  return sum != 256;
}
