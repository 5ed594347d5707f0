// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Variables that host and device share.
#include <cstdio>

__managed__ int total = 5;
__managed__ float squares[4];

__global__ void add(int n) {
  atomicAdd(&total, n);
  squares[threadIdx.x] = static_cast<float>(threadIdx.x * threadIdx.x);
}

int main() {
  total += 1;
  add<<<1, 4>>>(10);
  cudaDeviceSynchronize();
  const bool right = total == 46 && squares[3] == 9;
  std::printf("%s, %d, %g, %s\n", right ? "right" : "WRONG", total, squares[3],
              cudaGetErrorName(cudaGetLastError()));
  return right ? 0 : 1;
}
