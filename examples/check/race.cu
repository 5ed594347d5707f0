// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reverses each chunk of a row through shared memory. A fast warp can load the next chunk before
// another warp has read this one. On a GPU the result is usually correct nevertheless.
//   ./grade check examples/check/race.cu
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

constexpr int kChunk = 256, kChunks = 4;

__global__ void reverse_chunks(const int* in, int* out) {
  __shared__ int chunk[kChunk];
  for (int begin = 0; begin < kChunks * kChunk; begin += kChunk) {
    chunk[threadIdx.x] = in[begin + threadIdx.x];
    __syncthreads();
    out[begin + threadIdx.x] = chunk[kChunk - 1 - threadIdx.x];
#ifdef REPAIRED
    __syncthreads();
#endif
  }
}

int main() {
  std::vector<int> row(kChunks * kChunk);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<int>(i);
  const std::size_t bytes = row.size() * sizeof(int);
  int *in = nullptr, *out = nullptr;
  cudaMalloc(&in, bytes);
  cudaMalloc(&out, bytes);
  cudaMemcpy(in, row.data(), bytes, cudaMemcpyHostToDevice);
  reverse_chunks<<<1, kChunk>>>(in, out);
  cudaMemcpy(row.data(), out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  std::printf("the first is %d\n", row[0]);
  return row[0] == kChunk - 1 ? 0 : 1;
}
