// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads that wait for the stores before them, and a timed loop whose data stay in the L2 cache.
#include <cuda_runtime.h>

__global__ void sum(const float* a, const float* b, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = a[i] + b[i];
}

int main() {
  constexpr int n = 1 << 20;
  float* data;
  cudaMalloc(&data, 3 * n * sizeof(float));
  cudaMemset(data, 0, 3 * n * sizeof(float));
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int i = 0; i < 3; ++i) {
    cudaEventRecord(begin);
    sum<<<132, 256>>>(data, data + n, data + 2 * n, n);
    cudaEventRecord(end);
  }
  cudaDeviceSynchronize();
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaFree(data);
}
