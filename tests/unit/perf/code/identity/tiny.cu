// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel whose machine code the tests look at. KG_FACTOR changes a constant in it.
namespace kg::tiny {

__global__ void __launch_bounds__(128) scale(float* x) {
  __shared__ float staged[64];
  staged[threadIdx.x % 64] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = KG_FACTOR * staged[63 - threadIdx.x % 64];
}

} // namespace kg::tiny
