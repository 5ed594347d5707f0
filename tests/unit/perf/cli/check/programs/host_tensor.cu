// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor of the host is given to a kernel.
#include <torch/extension.h>

__global__ void increment(float* x) { x[threadIdx.x] += 1; }

int main() {
  const auto x = torch::zeros({32});
  increment<<<1, 32>>>(x.data_ptr<float>());
  return cudaDeviceSynchronize() != cudaSuccess;
}
