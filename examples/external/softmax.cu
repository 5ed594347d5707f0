// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ordinary CUDA code without any use of Kernelgrade: nvcc also compiles it.
#include "softmax.h"

#include <cfloat>
#include <cstdio>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t error = (call);                                                              \
    if (error != cudaSuccess) {                                                                    \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error));    \
      return false;                                                                                \
    }                                                                                              \
  } while (0)

// One block per row; blockDim.x is a power of two.
__global__ void softmax_kernel(const float* __restrict__ in, float* __restrict__ out, int columns) {
  extern __shared__ float buffer[];
  const int tid = threadIdx.x;
  const float* row = in + (size_t)blockIdx.x * columns;

  float largest = -FLT_MAX;
#ifdef PLANT_UNCOALESCED // each thread, not each warp, reads adjacent elements
  const int each = (columns + blockDim.x - 1) / blockDim.x;
  for (int i = tid * each; i < min((tid + 1) * each, columns); ++i)
    largest = fmaxf(largest, row[i]);
#else
  for (int i = tid; i < columns; i += blockDim.x) largest = fmaxf(largest, row[i]);
#endif
  buffer[tid] = largest;
  __syncthreads();
#ifdef PLANT_CONFLICT // lanes access words at strides of 2, 4, 8...
  for (int s = 1, i = 2 * tid; s < (int)blockDim.x; s <<= 1, i <<= 1) {
    if (i < (int)blockDim.x) buffer[i] = fmaxf(buffer[i], buffer[i + s]);
    __syncthreads();
  }
#else
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) buffer[tid] = fmaxf(buffer[tid], buffer[tid + s]);
    __syncthreads();
  }
#endif
  largest = buffer[0];
#ifndef PLANT_RACE
  __syncthreads(); // all threads read the maximum before a sum overwrites it
#endif

  float sum = 0.0f;
  for (int i = tid; i < columns; i += blockDim.x) sum += expf(row[i] - largest);
  buffer[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) buffer[tid] += buffer[tid + s];
    __syncthreads();
  }
  sum = buffer[0];

  for (int i = tid; i < columns; i += blockDim.x)
    out[(size_t)blockIdx.x * columns + i] = expf(row[i] - largest) / sum;
}

template <typename T>
__global__ void scale_kernel(T* data, T factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef PLANT_BOUNDS
  if (i >= n) return;
#endif
  data[i] *= factor;
}

bool softmax(const float* in, float* out, int rows, int columns, float scale) {
  constexpr int kThreads = 128;
  const int n = rows * columns;
  const size_t bytes = n * sizeof(float);
  float *d_in, *d_out;
  CHECK(cudaMalloc(&d_in, bytes));
  CHECK(cudaMalloc((void**)&d_out, bytes));
  CHECK(cudaMemcpy(d_in, in, bytes, cudaMemcpyHostToDevice));
  softmax_kernel<<<rows, kThreads, kThreads * sizeof(float)>>>(d_in, d_out, columns);
  CHECK(cudaGetLastError());
  scale_kernel<<<(n + kThreads - 1) / kThreads, kThreads>>>(d_out, scale, n);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(out, d_out, bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_in));
  CHECK(cudaFree(d_out));
  return true;
}
