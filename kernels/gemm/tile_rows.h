// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What gemm's kernels of large tiles share: which tile a block has, and how rows of a finished one
// come from shared memory into C.
#pragma once

#include "gemm/finish.h"

#include <cstdint>

namespace kg::gemm {

// Rows of tiles that neighbouring blocks share: their operands stay in L2, those of a whole row or
// column of tiles of a large C would not.
inline constexpr unsigned kTilesInGroup = 16;

// Which tile of C, by rows and columns of tiles.
struct TilePlace {
  unsigned row, column;
};
__device__ __forceinline__ TilePlace place_of(unsigned tile, unsigned tiles_m, unsigned tiles_n) {
  const unsigned height = tiles_m < kTilesInGroup ? tiles_m : kTilesInGroup;
  const unsigned group = tile / (height * tiles_n);
  const unsigned in_group = tile % (height * tiles_n);
  const unsigned left = tiles_m - group * height;
  const unsigned rows = left < height ? left : height;
  return {group * height + in_group % rows, in_group / rows};
}

// A pack of sums from shared memory.
template <int kCount>
__device__ __forceinline__ Floats<kCount> sums_at(const float* from, int pack) {
  static_assert(kCount == 1 || kCount == 4 || kCount == 8, "one element, or accesses of 16 bytes");
  Floats<kCount> sums;
  if constexpr (kCount == 1) {
    sums.value[0] = *from;
  } else {
    // Of 8 neighbouring lanes with two accesses each, four read the first half of their pack first
    // and four the second: together all banks, once.
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

// Rows of a tile in shared memory: their columns, the floats between two of them, and the threads
// of the block.
struct RowsOfTile {
  int columns, pitch, threads;
};

// Writes `rows` of them to C by packs of kCount.
template <RowsOfTile kRows, int kCount, class Destination>
__device__ __forceinline__ void write_rows(const Destination& to, std::int64_t product,
                                           std::int64_t row0, std::int64_t column0, int rows,
                                           const float* sums) {
  constexpr int kPacks = kRows.columns / kCount;
  KG_ROLLED // what a round computes anew need not lie in registers, which half a tile fills
      for (int i = static_cast<int>(threadIdx.x); i < rows * kPacks; i += kRows.threads) {
    const int row = i / kPacks, pack = i % kPacks;
    if (column0 + pack * kCount < to.n)
      finish<kCount>(to, product, row0 + row, column0 / kCount + pack,
                     sums_at<kCount>(sums + row * kRows.pitch + pack * kCount, pack));
  }
}

} // namespace kg::gemm
