// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of driver.cpp.
struct Pair {
  char tag;
  double factor;
};

__constant__ int offset = 1;
__device__ int total;

extern "C" __global__ void scale(const int* in, int* out, int n, Pair pair) {
  __shared__ int block[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) block[threadIdx.x] = in[i];
  __syncthreads();
  if (i < n) {
    out[i] = static_cast<int>(block[threadIdx.x] * pair.factor) + offset + pair.tag;
    atomicAdd(&total, 1);
  }
}

extern "C" __global__ void dynamic(int* out) {
  extern __shared__ int memory[];
  memory[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = memory[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void fetch(cudaTextureObject_t texture, float* out, int width) {
  const float x = static_cast<float>(threadIdx.x), y = static_cast<float>(blockIdx.x);
  out[blockIdx.x * width + threadIdx.x] = tex2D<float>(texture, x + 0.5f, y + 0.5f);
}

extern "C" __global__ void beyond(int* out, int i) { out[i] = 1; }
