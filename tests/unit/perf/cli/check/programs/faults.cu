// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A program with one fault of each kind, chosen by its first argument.
#include "size.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <unistd.h>

__global__ void fill(int* out, int beyond) { out[threadIdx.x + beyond] = 1; }

__global__ void add_up(const int* in, int* out) {
  if (in[threadIdx.x] > 0) atomicAdd(out, 1);
}

__global__ void diverge(int* out, unsigned boundary) {
  if (threadIdx.x < boundary)
    __syncthreads();
  else
    __syncthreads();
  out[threadIdx.x] = 1;
}

__global__ void spin(volatile int* flag) {
  while (*flag == 0) *flag = 0; // which is no deadlock: memory is written
}

int main(int argc, char** argv) {
  const char* const fault = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(fault, name) == 0; };
  int *a = nullptr, *b = nullptr;
  cudaMalloc(&a, SIZE * sizeof(int));
  cudaMalloc(&b, SIZE * sizeof(int));
  if (is("no kernel")) return 0;
  if (is("refused")) {
    fill<<<1, 2048>>>(a, 0);
    fill<<<1, SIZE>>>(b, 0);
    return 0;
  }
  if (is("refused and seen")) {
    fill<<<1, 2048>>>(a, 0);
    if (cudaGetLastError() == cudaSuccess) return 1;
  }
  if (is("spin")) {
    cudaMemset(a, 0, SIZE * sizeof(int));
    spin<<<1, 1>>>(a);
  }
  fill<<<1, SIZE>>>(a, is("bounds") ? 1 : 0);
  if (is("uninitialised")) add_up<<<1, SIZE>>>(b, a);
  if (is("divergent")) diverge<<<1, 32>>>(a, 16);
  if (is("divergent warps")) diverge<<<1, SIZE>>>(a, 32);
  if (!is("leak")) {
    cudaFree(a);
    cudaFree(b);
  }
  if (is("crash")) std::abort();
  if (is("wrong")) return 3;
  std::printf("argument: %s\n", fault);
  return 0;
}
