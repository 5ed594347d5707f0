// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads sums of a tile from shared memory as vectors of the result.
#pragma once

#include "primitives/stored_pack.h"
#include "runtime/device_code.h"

namespace kg::gemm {

// Loads a vector of sums from shared memory.
template <int kCount>
__device__ __forceinline__ Floats<kCount> sums_at(const float* from, int pack) {
  static_assert(kCount == 1 || kCount == 4 || kCount == 8, "one element, or accesses of 16 bytes");
  Floats<kCount> sums;
  if constexpr (kCount == 1) {
    sums.value[0] = *from;
  } else {
    // With two 16-byte accesses per lane, four of 8 neighbouring lanes start with the first half of
    // their vector and four with the second: together they cover all banks once.
    constexpr int kQuads = kCount / 4;
    const int turn = pack / 4 % kQuads;
    float4 quad[kQuads];
    KG_UNROLL
    for (int i = 0; i < kQuads; ++i)
      quad[i] = *reinterpret_cast<const float4*>(from + 4 * (i ^ turn));
    KG_UNROLL
    for (int i = 0; i < kQuads; ++i) {
      const float4 own = turn == 0 ? quad[i] : quad[kQuads - 1 - i];
      sums.value[4 * i + 0] = own.x;
      sums.value[4 * i + 1] = own.y;
      sums.value[4 * i + 2] = own.z;
      sums.value[4 * i + 3] = own.w;
    }
  }
  return sums;
}

} // namespace kg::gemm
