// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Buffers that kernels write. Without an argument nothing reads the last one. "copied": the host
// copies it. "added": a kernel reads it. "passed on": a copy on the device does. "in place": the
// host reads it in place. "counted": atomics read it, as they write it.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void fill(int* out, int value) { out[threadIdx.x] = value; }
__global__ void add(const int* in, int* out) { out[threadIdx.x] += in[threadIdx.x]; }
__global__ void count(int* out) { atomicAdd(out, 1); }

int main(int argc, char** argv) {
  const auto is = [&](const char* name) { return argc > 1 && std::strcmp(argv[1], name) == 0; };
  constexpr int kThreads = 64;
  constexpr std::size_t kBytes = kThreads * sizeof(int);
  int *seen = nullptr, *last = nullptr, host[kThreads];
  cudaMalloc(&seen, kBytes);
  if (is("in place"))
    cudaMallocManaged(&last, 2 * kBytes);
  else
    cudaMalloc(&last, 2 * kBytes);
  fill<<<1, kThreads>>>(seen, 1);
  fill<<<1, kThreads>>>(last, 2);
  if (is("copied")) cudaMemcpy(host, last, kBytes, cudaMemcpyDeviceToHost);
  if (is("added")) add<<<1, kThreads>>>(last, seen);
  if (is("passed on")) cudaMemcpy(seen, last, kBytes, cudaMemcpyDeviceToDevice);
  if (is("counted")) count<<<1, kThreads>>>(last);
  cudaDeviceSynchronize();
  if (is("in place")) host[0] = last[0];
  cudaMemcpy(host, seen, kBytes, cudaMemcpyDeviceToHost);
  std::printf("%d\n", host[0]);
  cudaFree(seen);
  cudaFree(last);
}
