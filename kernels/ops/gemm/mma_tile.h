// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiled matrix product on Tensor Cores (gemm_mma.cu explains the algorithm): multiplies two slices
// in shared memory (mma_slice.h) and accumulates in registers; stores the sums to shared memory.
#pragma once

#include "instructions/mma.h"
#include "instructions/store_shared.h"
#include "instructions/tf32.h"
#include "primitives/pack.h"
#include "runtime/device_code.h"

#include <type_traits>

namespace kg::gemm {

inline constexpr int kWarpExtent = 64; // rows, and columns, of C per warp
inline constexpr int kSliceBytes = 64; // along k
template <class T>
inline constexpr int kDepth = kSliceBytes / static_cast<int>(sizeof(T)); // along k
inline constexpr int kSteps = kSliceBytes / 2 / kPackBytes; // of two 16-byte chunks each

// Extents of a block's tile of C, and the number of slices in shared memory.
struct MmaTile {
  int m, n, slices;

  __host__ __device__ constexpr int warps_n() const { return n / kWarpExtent; }
  __host__ __device__ constexpr int threads() const { return m / kWarpExtent * warps_n() * 32; }
  __host__ __device__ constexpr int slice_bytes() const { return (m + n) * kSliceBytes; } // of both
  __host__ __device__ constexpr int shared_bytes() const { return slices * slice_bytes(); }
  // Floats between rows of C in shared memory: 8 modulo 32, so that the 4 rows and 8 columns that a
  // half-warp holds of an MMA accumulator fall into 32 different banks.
  __host__ __device__ constexpr int pitch() const { return n + 8; }
  // Whether half of C's tile fits into the memory of the slices.
  __host__ __device__ constexpr bool fits() const {
    return kWarpExtent * pitch() * static_cast<int>(sizeof(float)) <= shared_bytes();
  }
};

inline constexpr MmaTile kMma{.m = 128, .n = 128, .slices = 3};
inline constexpr MmaTile kWideMma{.m = 128, .n = 256, .slices = 4};
static_assert(kMma.fits() && kWideMma.fits());

// A warp's accumulators: 64 x 64 elements of C, as MMA tiles of 16 x 8.
using WarpSum = float[kWarpExtent / 16][kWarpExtent / 8][4];

// A warp's operands for a step of k: each fragment holds 16 rows of A, or 16 columns of B (two MMA
// operands). Floats are rounded to TF32 on use.
inline constexpr int kFragments = kWarpExtent / 16; // per operand
struct Fragments {
  unsigned a[kFragments][4], b[kFragments][4];
};

template <class T>
__device__ __forceinline__ void round_operands(unsigned (&fragment)[4]) {
  if constexpr (std::is_same_v<T, float>) {
    KG_UNROLL
    for (int part = 0; part < 4; ++part)
      fragment[part] = ptx::to_tf32_operand(__uint_as_float(fragment[part]));
  }
}

template <class T>
__device__ __forceinline__ void add_product(float (&sum)[4], const unsigned (&a)[4],
                                            const unsigned (&b)[2]) {
  if constexpr (std::is_same_v<T, float>)
    ptx::mma_m16n8k8_tf32(sum, a, b);
  else
    ptx::mma_m16n8k16<T>(sum, a, b);
}

// MMAs are issued in pairs: pair kFragments j + i multiplies a[i] by b[j].
inline constexpr int kPairs = kFragments * kFragments;

// Calls beside(pair) after issuing each pair, to interleave other work.
template <class T, class Beside>
__device__ __forceinline__ void multiply(Fragments& own, WarpSum& sum, const Beside& beside) {
  KG_UNROLL
  for (int i = 0; i < kFragments; ++i) round_operands<T>(own.a[i]);
  KG_UNROLL
  for (int j = 0; j < kFragments; ++j) {
    unsigned(&b)[4] = own.b[j];
    round_operands<T>(b);
    KG_UNROLL
    for (int i = 0; i < kFragments; ++i) {
      add_product<T>(sum[i][2 * j], own.a[i], {b[0], b[1]});
      add_product<T>(sum[i][2 * j + 1], own.a[i], {b[2], b[3]});
      beside(kFragments * j + i);
    }
  }
}

// Writes a warp's sums to 64 rows of shared memory, kPitch floats apart, starting at `column`.
template <int kPitch>
__device__ __forceinline__ void gather(const WarpSum& sum, int column, float* rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float* const first = rows + lane / 4 * kPitch + column + lane % 4 * 2;
  KG_UNROLL
  for (int i = 0; i < kWarpExtent / 16; ++i) {
    KG_UNROLL
    for (int j = 0; j < kWarpExtent / 8; ++j) {
      const float(&s)[4] = sum[i][j];
      float* const to = first + 16 * i * kPitch + 8 * j;
      const float2 upper{s[0], s[1]}, lower{s[2], s[3]};
      ptx::store_shared(reinterpret_cast<float2*>(to), upper);
      ptx::store_shared(reinterpret_cast<float2*>(to + 8 * kPitch), lower);
    }
  }
}

} // namespace kg::gemm
