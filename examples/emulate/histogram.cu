// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts bytes in shared memory. No barrier separates the zeroing of the bins from the counting, so
// a fast warp loses its counts.
//   nvcc -cudart shared -gencode arch=compute_80,code=compute_80 -lineinfo histogram.cu -o
//   histogram
#include <cstdio>
#include <cuda_runtime.h>

constexpr int kBins = 64;

__global__ void histogram(const unsigned char* data, int n, int* bins) {
  __shared__ int local[kBins];
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) local[i] = 0;
#ifdef REPAIRED
  __syncthreads();
#endif
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i] % kBins], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < kBins; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

int main() {
  constexpr int kElements = 1 << 16;
  unsigned char* data = nullptr;
  int* bins = nullptr;
  cudaMalloc(&data, kElements);
  cudaMalloc(&bins, kBins * sizeof(int));
  cudaMemset(data, 3, kElements);
  cudaMemset(bins, 0, kBins * sizeof(int));
  histogram<<<8, 128>>>(data, kElements, bins);
  int counts[kBins] = {};
  cudaMemcpy(counts, bins, sizeof counts, cudaMemcpyDeviceToHost);
  cudaFree(data);
  cudaFree(bins);
  std::printf("%d of %d counted\n", counts[3], kElements);
  return counts[3] == kElements ? 0 : 1;
}
