// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Some kernels never run. -D EXACT removes the arithmetic that a GPU rounds differently.
#include <cstdio>

__global__ void add(float* out) { out[threadIdx.x] += 1; }

template <class T>
__global__ void __launch_bounds__(32) scale(T* out, T factor) {
  if (factor > 100)
    __trap();
  else
    out[threadIdx.x] *= factor;
}

#ifdef NOT_COMPILED
__global__ void not_compiled(float* out) { out[0] = 1; }
#endif

#ifndef EXACT
__global__ void gaussian(float* out) {
  const float x = out[threadIdx.x];
  out[threadIdx.x] = __fdividef(__expf(-x * x), 2);
}
#endif

// Without -D ALL, the program launches none of these three.
__global__ void never(float* out) { out[threadIdx.x] = __logf(out[threadIdx.x]); }
template __global__ void scale<double>(double*, double);
template <class T>
__global__ void no_instance(T* out) {
  *out = T();
}

int main() {
  float* out;
  cudaMalloc(&out, 32 * sizeof(float));
  cudaMemset(out, 0, 32 * sizeof(float));
  add<<<1, 32>>>(out);
  scale<float><<<1, 32>>>(out, 2);
#ifndef EXACT
  gaussian<<<1, 32>>>(out);
#endif
#ifdef ALL
  never<<<1, 32>>>(out);
  no_instance<float><<<1, 1>>>(out);
#endif
  cudaDeviceSynchronize();
  cudaFree(out);
}
