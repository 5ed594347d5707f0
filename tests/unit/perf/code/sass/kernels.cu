// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose machine code the tests read; kernels.sass is what nvcc 13.0 and nvdisasm 13 made of
// them:
//   nvcc -arch=sm_90a -O3 -lineinfo -cubin -o kernels.cubin kernels.cu
//   nvdisasm -c -gi kernels.cubin
// with the folders in front of the files' names removed.
#include <cuda_bf16.h>

namespace kg::read {

// Four loads of 16 bytes, none of which waits for another.
__global__ void together(const float4* x, float4* y) {
  float4 held[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) held[i] = x[threadIdx.x + 128 * i];
#pragma unroll
  for (int i = 0; i < 4; ++i) y[threadIdx.x + 128 * i] = held[i];
}

// Two whole packs of 16 bytes or their first elements; each pack is converted where it is loaded.
__global__ void one_by_one(const __nv_bfloat16* x, float* y, int count) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int first = 8 * (threadIdx.x + 128 * i);
    if (first + 8 <= count) {
      const uint4 raw = *reinterpret_cast<const uint4*>(x + first);
      const unsigned words[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
      for (int e = 0; e < 4; ++e)
        sum = fmaxf(sum, __uint_as_float(words[e] << 16)) + __uint_as_float(words[e] & 0xffff0000u);
    } else {
#pragma unroll 1
      for (int e = 0; e < 8 && first + e < count; ++e) sum += __bfloat162float(x[first + e]);
    }
  }
  y[threadIdx.x] = sum;
}

// A loop in a loop; the inner one divides in f32, the outer one in 64-bit integers.
__global__ void divided(const float* x, float* y, long long rows, long long by) {
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 64; ++i) sum += x[row * 64 + i] / (1.0f + i);
    y[row / by] = sum;
  }
}

} // namespace kg::read
