// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels in a header, as many projects have them: templates, each with its own type of dynamic
// shared memory.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace samples {

namespace cg = cooperative_groups;

#define CEIL_DIV(a, b) (((a) + (b)-1) / (b))

// Sum of each block's part, by a tree in shared memory.
template <typename T, unsigned BlockSize>
__global__ void __launch_bounds__(BlockSize) block_sums(const T* __restrict__ in, T* out, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* buffer = reinterpret_cast<T*>(raw);
  const unsigned tid = threadIdx.x;
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + tid; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  buffer[tid] = sum;
  __syncthreads();
#pragma unroll
  for (unsigned s = BlockSize / 2; s > 0; s >>= 1) {
    if (tid < s) buffer[tid] += buffer[tid + s];
    __syncthreads();
  }
  if (tid == 0) out[blockIdx.x] = buffer[0];
}

// Reverses n <= blockDim.x elements through shared memory.
template <typename T>
__global__ void reverse(T* data, int n) {
  extern __shared__ T buffer[];
  if (threadIdx.x < n) buffer[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) data[threadIdx.x] = buffer[n - 1 - threadIdx.x];
}

// A launch in a header's template, with deduced template arguments.
template <typename T>
void reverse_on(T* data, int n, cudaStream_t stream) {
  reverse<<<1, n, n * sizeof(T), stream>>>(data, n);
}

} // namespace samples
