// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A matrix product by tiles on the matrix units (gemm_mma.cu says how): the product of two slices
// in shared memory (mma_slice.h) in the registers of a block's warps, and how these sums come into
// shared memory.
#pragma once

#include "primitives/pack.h"
#include "ptx/mma.h"
#include "ptx/store_shared.h"
#include "runtime/device_code.h"

#include <type_traits>

namespace kg::gemm {

// Extents of a block's tile of C and of a warp's part of it; bytes of k in a slice; slices in
// shared memory.
struct MmaTile {
  int m, n, warp, k_bytes, slices;

  __host__ __device__ constexpr int warps_n() const { return n / warp; }
  __host__ __device__ constexpr int threads() const { return m / warp * warps_n() * 32; }
  __host__ __device__ constexpr int slice_bytes() const { return (m + n) * k_bytes; } // of A and B
  __host__ __device__ constexpr int shared_bytes() const { return slices * slice_bytes(); }
  // Floats between rows of C in shared memory: 8 modulo 32, so that the 4 rows and 8 columns which
  // a half-warp has of mma's sum fall into 32 different banks.
  __host__ __device__ constexpr int pitch() const { return n + 8; }
};

inline constexpr MmaTile kMma{.m = 128, .n = 128, .warp = 64, .k_bytes = 64, .slices = 3};
static_assert(kMma.warp * kMma.pitch() * static_cast<int>(sizeof(float)) <= kMma.shared_bytes(),
              "half a tile of C takes the slices' place");

template <class T>
inline constexpr int kDepth = kMma.k_bytes / static_cast<int>(sizeof(T)); // of a slice
template <class T>
inline constexpr int kSliceElements = kMma.slice_bytes() / static_cast<int>(sizeof(T));

// The part of mma's sums: 16 x 8 elements each, 64 x 64 of C together.
using WarpSum = float[kMma.warp / 16][kMma.warp / 8][4];

template <class T>
__device__ __forceinline__ void add_product(float (&sum)[4], const unsigned (&a)[4],
                                            const unsigned (&b)[2]) {
  if constexpr (std::is_same_v<T, float>)
    ptx::mma_m16n8k8_tf32(sum, a, b);
  else
    ptx::mma_m16n8k16<T>(sum, a, b);
}

template <class T, class SliceA, class SliceB>
__device__ __forceinline__ void multiply(const T* slice_a, const T* slice_b, int row, int column,
                                         WarpSum& sum) {
  KG_UNROLL
  for (int k = 0; k < kDepth<T>; k += 2 * kPackElements<T>) {
    unsigned a[kMma.warp / 16][4];
    KG_UNROLL
    for (int i = 0; i < kMma.warp / 16; ++i)
      SliceA::template load<true>(a[i], slice_a, row + 16 * i, k);
    KG_UNROLL
    for (int j = 0; j < kMma.warp / 16; ++j) {
      unsigned b[4]; // two operands of mma, next to each other in n
      SliceB::template load<false>(b, slice_b, column + 16 * j, k);
      KG_UNROLL
      for (int i = 0; i < kMma.warp / 16; ++i) {
        add_product<T>(sum[i][2 * j], a[i], {b[0], b[1]});
        add_product<T>(sum[i][2 * j + 1], a[i], {b[2], b[3]});
      }
    }
  }
}

// Puts a warp's sums into 64 rows of shared memory, from `column` on.
__device__ __forceinline__ void gather(const WarpSum& sum, int column, float* rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float* const first = rows + lane / 4 * kMma.pitch() + column + lane % 4 * 2;
  KG_UNROLL
  for (int i = 0; i < kMma.warp / 16; ++i) {
    KG_UNROLL
    for (int j = 0; j < kMma.warp / 8; ++j) {
      const float(&s)[4] = sum[i][j];
      float* const to = first + 16 * i * kMma.pitch() + 8 * j;
      const float2 upper{s[0], s[1]}, lower{s[2], s[3]};
      ptx::store_shared(reinterpret_cast<float2*>(to), upper);
      ptx::store_shared(reinterpret_cast<float2*>(to + 8 * kMma.pitch()), lower);
    }
  }
}

} // namespace kg::gemm
