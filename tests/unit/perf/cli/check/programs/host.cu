// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the host does wrong, chosen by the first argument; by any other word it is right.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

struct Padded {
  char letter;
  double number;
};

__global__ void fill(int* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = i;
}

__global__ void fill_from_all_blocks(int* out) { out[threadIdx.x] = static_cast<int>(blockIdx.x); }

__global__ void fill_padded(Padded* out) {
  out[threadIdx.x].letter = 'a';
  out[threadIdx.x].number = -1;
}

int main(int argc, char** argv) {
  const char* const fault = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(fault, name) == 0; };
  constexpr int n = 1000;
  int *a = nullptr, *b = nullptr;
  static int host[n];
  cudaMalloc(&a, n * sizeof(int));
  cudaMalloc(&b, n * sizeof(int));
  if (is("refused by cudaLaunchKernel, and seen")) {
    int count = n;
    void* arguments[] = {&a, &count};
    if (cudaLaunchKernel(fill, dim3(1), dim3(2048), arguments, 0, nullptr) == cudaSuccess) return 1;
  }
  if (is("refused")) fill<<<1, 2048>>>(a, n);
  if (is("no shared memory")) fill<<<4, 256, 1 << 20>>>(a, n);
  if (is("refused and seen")) {
    fill<<<1, 2048>>>(a, n);
    if (cudaPeekAtLastError() == cudaSuccess) return 1;
  }
  if (is("registered") || is("registered, and a race")) {
    constexpr std::size_t kBytes = 1 << 20; // malloc maps it apart
    auto* const own = static_cast<int*>(std::malloc(kBytes));
    constexpr int kCount = kBytes / sizeof(int);
    if (cudaHostRegister(own, kBytes, cudaHostRegisterDefault) != cudaSuccess) return 1;
    if (is("registered, and a race")) fill_from_all_blocks<<<2, 32>>>(own);
    fill<<<kCount / 256, 256>>>(own, kCount);
    cudaDeviceSynchronize();
    if (own[9] != 9 || cudaHostUnregister(own) != cudaSuccess) return 1;
    std::free(own);
  }
  fill<<<is("a block less") ? n / 256 : n / 256 + 1, 256>>>(a, n);
  if (is("never written")) cudaMemcpy(host, b, 4, cudaMemcpyDeviceToHost);
  if (is("of a copy")) cudaMemcpy(a, b, 8, cudaMemcpyDeviceToDevice);
  if (is("set")) {
    cudaMemset(b, 0xff, n * sizeof(int)); // as fresh memory looks here
    cudaMemcpy(host, b, n * sizeof(int), cudaMemcpyDeviceToHost);
  }
  if (is("padding")) {
    Padded* padded = nullptr;
    static Padded copies[32];
    cudaMalloc(&padded, sizeof copies);
    fill_padded<<<1, 32>>>(padded);
    cudaMemcpy(copies, padded, sizeof copies, cudaMemcpyDeviceToHost);
    cudaFree(padded);
  }
  cudaMemcpy(host, a, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(a);
  if (!is("leak")) cudaFree(b);
  std::printf("done: %d\n", host[9]);
  return 0;
}
