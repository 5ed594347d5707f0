// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How many clusters the device of compute capability 9.0 holds, for `kernelgrade emulate`: 16
// multiprocessors of 4 blocks, or of as many as fit into 228 KiB, 1 KiB of each reserved. Says
// "right".
#include <cuda_runtime.h>

#include <cstdio>

__global__ void plain() {}
__global__ void __cluster_dims__(4, 1, 1) of_four() {}
__global__ void with_static(int* out) {
  __shared__ int values[12 * 1024]; // 48 KiB
  values[threadIdx.x] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = values[255 - threadIdx.x];
}

// The clusters of blocks of 256 threads; -1: refused. `cluster` 0: no attribute.
template <class Kernel>
int clusters(Kernel* kernel, unsigned cluster, std::size_t shared_bytes = 0) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = {64, 1, 1};
  config.blockDim = {256, 1, 1};
  config.dynamicSmemBytes = shared_bytes;
  config.attrs = &attribute;
  config.numAttrs = cluster == 0 ? 0 : 1;
  int count = -1;
  return cudaOccupancyMaxActiveClusters(&count, kernel, &config) == cudaSuccess ? count : -1;
}

int main() {
  int wrong = 0;
  const auto expect = [&](int got, int wanted, const char* what) {
    if (got == wanted) return;
    ++wrong;
    std::printf("%s: %d clusters, not %d\n", what, got, wanted);
  };
  expect(clusters(plain, 2), 32, "two of 64 blocks");
  expect(clusters(plain, 8), 8, "eight of 64 blocks");
  expect(clusters(plain, 4, 100 << 10), 8, "two blocks of 100 KiB to a multiprocessor");
  expect(clusters(plain, 2, 228 << 10), 0, "more shared memory than a block may have");
  expect(clusters(plain, 16), -1, "more blocks than a cluster may have");
  expect(clusters(of_four, 0), 16, "__cluster_dims__");
  expect(clusters(of_four, 2), -1, "an attribute unlike __cluster_dims__");
  expect(clusters(with_static, 2, 70 << 10), 8, "static shared memory");
  if (wrong == 0) std::puts("right");
  return wrong;
}
