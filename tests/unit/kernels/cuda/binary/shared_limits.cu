// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel with static and dynamic shared memory, which together exceed 48 KiB. It runs if the
// program asks for the dynamic part.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

constexpr int kStatic = 8300, kDynamic = 8192; // words

__global__ void count(int* out) {
  __shared__ int fixed[kStatic];
  extern __shared__ int dynamic[];
  for (int i = threadIdx.x; i < kStatic; i += blockDim.x) fixed[i] = 1;
  for (int i = threadIdx.x; i < kDynamic; i += blockDim.x) dynamic[i] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  int sum = 0;
  for (int i = 0; i < kStatic; ++i) sum += fixed[i];
  for (int i = 0; i < kDynamic; ++i) sum += dynamic[i];
  *out = sum;
}

int main(int argc, char** argv) {
  constexpr int kBytes = kDynamic * sizeof(int);
  if (argc > 1 && std::strcmp(argv[1], "asks") == 0)
    cudaFuncSetAttribute(count, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  int* out;
  cudaMallocManaged(&out, sizeof(int));
  count<<<1, 32, kBytes>>>(out);
  const cudaError_t error = cudaGetLastError();
  cudaDeviceSynchronize();
  std::printf("%s\n", error != cudaSuccess         ? cudaGetErrorName(error)
                      : *out == kStatic + kDynamic ? "right"
                                                   : "wrong");
  cudaFree(out);
  return error != cudaSuccess;
}
