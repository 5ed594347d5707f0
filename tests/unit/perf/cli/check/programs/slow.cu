// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that are right and slow, and their good twins (-D GOOD).
#include <cstdio>
#include <vector>

#ifdef GOOD
constexpr int kThreads = 32, kBlocks = 132 * 64;
#define HALF 0.5f
#else
constexpr int kThreads = 25, kBlocks = 132 * 32 + 1;
#define HALF 0.5
#endif

__device__ float halved(float x) { return x * HALF; }

__global__ void halve(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = halved(in[i]);
}

double host_average(float a, float b) {
  return (a + b) * 0.5; // double on the host, where it costs nothing
}

int main() {
  const int n = kThreads * kBlocks;
  float *in, *out;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemset(in, 0, n * sizeof(float));
  halve<<<kBlocks, kThreads>>>(in, out, n);
  std::vector<float> result(n);
  cudaMemcpy(result.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  return host_average(result[0], result[n - 1]) == 0 ? 0 : 1;
}
