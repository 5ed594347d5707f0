// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The good twin of serial.cu: pointers that do not overlap, and a cache that is filled in between.
#include <cuda_runtime.h>

__global__ void sum(const float* __restrict__ a, const float* __restrict__ b,
                    float* __restrict__ out, int n) {
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
    cudaMemset(data + 2 * n, 0, n * sizeof(float)); // it would be 50 MiB
    cudaEventRecord(begin);
    sum<<<132, 256>>>(data, data + n, data + 2 * n, n);
    cudaEventRecord(end);
  }
  cudaDeviceSynchronize();
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  cudaFree(data);
}
