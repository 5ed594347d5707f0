// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic that means one thing on a GPU and another one on a CPU, chosen by the first argument.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void convert(const float* in, int* out, unsigned* positive) {
  out[threadIdx.x] = static_cast<int>(in[threadIdx.x]);
  positive[threadIdx.x] = static_cast<unsigned>(in[threadIdx.x] < 0 ? 0 : in[threadIdx.x]);
}

__global__ void convert_unsigned(const float* in, unsigned* out) {
  out[threadIdx.x] = static_cast<unsigned>(in[threadIdx.x]);
}

__global__ void shift(int* out, int by) { out[threadIdx.x] = 1 << by; }

__global__ void divide(int* out, int by) { out[threadIdx.x] = 100 / (by - (int)threadIdx.x); }

// Whether the load of another thread's value goes through the read-only cache.
template <bool kReadOnly>
__global__ void turn(int* out) {
  out[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  const int* from = out + 3 - threadIdx.x;
  out[4 + threadIdx.x] = kReadOnly ? __ldg(from) : *from;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(what, name) == 0; };
  float numbers[4] = {0.5f, 2147483520.f, -0.75f, 1.f}, *in = nullptr;
  if (is("float")) numbers[3] = 1e20f;
  if (is("negative")) numbers[3] = -2.f;
  if (is("not a number")) numbers[3] = NAN;
  int* out = nullptr;
  cudaMalloc(&in, sizeof numbers);
  cudaMalloc(&out, 2 * sizeof numbers);
  cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  unsigned* const positive = reinterpret_cast<unsigned*>(out + 4);
  convert<<<1, 4>>>(in, out, positive);
  if (is("negative")) convert_unsigned<<<1, 4>>>(in, positive);
  if (is("shift")) shift<<<1, 4>>>(out, 40);
  if (is("divide")) divide<<<1, 4>>>(out, 2);
  if (is("read-only")) turn<true><<<1, 4>>>(out);
  if (is("plain")) turn<false><<<1, 4>>>(out);
  cudaFree(in);
  cudaFree(out);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return 0;
}
