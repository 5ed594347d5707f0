// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The first step of gather.h for the common square windows of nhwc: the tiles of
// pooling/pack_windows.h. A thread loads several rows of what a tile's windows hold before it looks
// at one element; each element becomes a candidate once, and each row's best of a window is handed
// to the windows below each other that hold the row.
//
// Where a tap lies outside of the input the nearest element is taken instead, at its own place: it
// is one of the window's, which it leaves as it is. A window without an element of the input gets
// some place that no element of dx has.
//
// Bytes: x is read from memory once, the choices are written once; L1 is asked for x as in
// pooling/pack_windows.h, where gather.h's choose asks for 2.25 times x at stride 2. Arithmetic, of
// 16-bit elements: 299 instructions of a warp per output of 3x3 at stride 2, and 344 clocks of the
// arithmetic unit, of 567 in which an H200 copies what they move (choose takes 78 instructions and
// 120 clocks for each of 9 taps). Modelled: a copy's rate.
#pragma once

#include "pooling/pack_windows.h"
#include "pooling_backward/candidates.h"

namespace kg::pooling_backward {

using pooling::is_below;
using pooling::PackTile;
using pooling::PackWindows;
using pooling::Square;

// At most 128 registers per thread; 168 where it has 8 windows.
template <int kStride>
inline constexpr int kChooseBlocksPerSm = kStride == 1 ? 3 : 4;

template <class T, int kKernel, int kStride>
__global__ void __launch_bounds__(pooling::kPackThreads, kChooseBlocksPerSm<kStride>)
    choose_packs(const T* __restrict__ x, std::uint8_t* __restrict__ choices, PackWindows w) {
  constexpr int kCount = kPackElements<T>;
  using Tile = PackTile<Square{kKernel, kStride}>;
  constexpr int kRowsAtOnce = pooling::kPacksAtOnce / Tile::kColumns;
  static_assert((Tile::kRows - 1) * kKernel + Tile::kColumns - 1 <= kLastPlace);
  const unsigned index = blockIdx.x * pooling::kPackThreads + threadIdx.x;
  if (index >= w.threads) return;
  const pooling::PackPlace<Square{kKernel, kStride}> at(index, w, kCount);
  const T* const plane = x + (at.plane * w.x_plane + at.inner);
  // From the tile's first element on, which may lie outside.
  const auto nearest = [](int next, int first, int extent) {
    return min(max(first + next, 0), extent - 1) - first;
  };
  int column[Tile::kColumns];
  std::int64_t offset[Tile::kColumns];
  KG_UNROLL
  for (int j = 0; j < Tile::kColumns; ++j) {
    column[j] = nearest(j, at.left, w.across.in);
    offset[j] = (at.left + column[j]) * w.across.x_step;
  }

  Candidates<T, kCount> best[Tile::kDown][Tile::kAcross];
  KG_UNROLL
  for (int begin = 0; begin < Tile::kRows; begin += kRowsAtOnce) {
    StoredPack<T, kCount> stored[kRowsAtOnce][Tile::kColumns] = {};
    int row[kRowsAtOnce];
    KG_UNROLL
    for (int r = 0; r < kRowsAtOnce; ++r) {
      if (begin + r >= Tile::kRows) continue;
      row[r] = nearest(begin + r, at.top, w.down.in);
      const T* const line = plane + (at.top + row[r]) * w.down.x_step;
      KG_UNROLL
      for (int j = 0; j < Tile::kColumns; ++j) stored[r][j].load(line + offset[j]);
    }
    KG_UNROLL
    for (int r = 0; r < kRowsAtOnce; ++r) loaded(stored[r]);
    KG_UNROLL
    for (int r = 0; r < kRowsAtOnce; ++r) {
      if (begin + r >= Tile::kRows) continue;
      Candidates<T, kCount> of_row[Tile::kAcross];
      KG_UNROLL
      for (int j = 0; j < Tile::kColumns; ++j) {
        const Candidates<T, kCount> candidates(stored[r][j], row[r] * kKernel + column[j]);
        KG_UNROLL
        for (int o = 0; o < Tile::kAcross; ++o) {
          if (j == o * kStride)
            of_row[o] = candidates;
          else if (is_below(j - o * kStride, kKernel))
            of_row[o].challenge(candidates);
        }
      }
      KG_UNROLL
      for (int d = 0; d < Tile::kDown; ++d) {
        KG_UNROLL
        for (int o = 0; o < Tile::kAcross; ++o) {
          if (begin + r == d * kStride)
            best[d][o] = of_row[o];
          else if (is_below(begin + r - d * kStride, kKernel))
            best[d][o].challenge(of_row[o]);
        }
      }
    }
  }

  std::uint8_t* const to = choices + at.first_output(w);
  KG_UNROLL
  for (int d = 0; d < Tile::kDown; ++d) {
    if (at.row + d >= w.down.out) break;
    KG_UNROLL
    for (int o = 0; o < Tile::kAcross; ++o) {
      if (at.column + o >= w.across.out) break;
      Pack<std::uint8_t, kCount> taps;
      KG_UNROLL
      for (int e = 0; e < kCount; ++e)
        taps.element[e] =
            static_cast<std::uint8_t>(best[d][o].place(e) - (d * kKernel + o) * kStride);
      store_wide(reinterpret_cast<Pack<std::uint8_t, kCount>*>(
                     to + (d * w.down.y_step + o * w.across.y_step)),
                 taps);
    }
  }
}

} // namespace kg::pooling_backward
