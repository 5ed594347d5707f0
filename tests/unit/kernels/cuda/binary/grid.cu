// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks that wait for each other: each step adds what the neighbour had in the step before.
#include <cooperative_groups.h>
#include <cstdio>
#include <vector>

constexpr int kBlocks = 6, kThreads = 40, kSteps = 4;

__global__ void shift(int* values) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = gridDim.x * blockDim.x;
  for (int step = 0; step < kSteps; ++step) {
    const int neighbour = values[(i + blockDim.x) % count];
#ifndef RACE
    grid.sync();
#endif
    values[i] += neighbour;
    grid.sync();
  }
}

int main() {
  std::vector<int> expected(kBlocks * kThreads), got(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(i * i % 97);
  int* values = nullptr;
  const std::size_t bytes = expected.size() * sizeof(int);
  cudaMalloc(&values, bytes);
  cudaMemcpy(values, expected.data(), bytes, cudaMemcpyDefault);
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<int> before = expected;
    for (std::size_t i = 0; i < expected.size(); ++i)
      expected[i] += before[(i + kThreads) % expected.size()];
  }
  void* arguments[] = {&values};
  cudaLaunchCooperativeKernel(shift, dim3(kBlocks), dim3(kThreads), arguments);
  cudaMemcpy(got.data(), values, bytes, cudaMemcpyDefault);
  cudaFree(values);
  const cudaError_t error = cudaGetLastError();
  std::printf("%s, %s\n", got == expected ? "right" : "WRONG", cudaGetErrorName(error));
  return got == expected && error == cudaSuccess ? 0 : 1;
}
