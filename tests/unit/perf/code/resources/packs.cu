// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that move two packs of 16 bytes, at once and element by element.
namespace kg::packs {

struct alignas(16) Pack {
  float element[4];
};

__global__ void __launch_bounds__(128) whole(const Pack* x, Pack* y) {
  const Pack first = x[threadIdx.x], second = x[threadIdx.x + 128];
  y[threadIdx.x] = first;
  y[threadIdx.x + 128] = second;
}

// No access can be moved across another: y may be x. The second pack's elements go apart.
__global__ void __launch_bounds__(128) split(const Pack* x, Pack* y) {
#pragma unroll
  for (int e = 0; e < 4; ++e) y[threadIdx.x].element[e] = x[threadIdx.x].element[e];
#pragma unroll
  for (int e = 0; e < 4; ++e)
    y[threadIdx.x + 128 * (e + 1)].element[0] = x[threadIdx.x + 128].element[e];
}

} // namespace kg::packs
