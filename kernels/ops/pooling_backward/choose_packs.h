// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The first step of gather.h for square windows of nhwc at stride 1, over the tiles of
// ops/pooling/pack_windows.h. A thread loads several rows of a tile's input before it uses the
// first element. Each element becomes a candidate once. A row's best candidate per window is passed
// to all vertically overlapping windows that contain the row.
//
// For a tap outside the input, the nearest element stands in, with its own position. That element
// already belongs to the window, so the maximum does not change. A window without input elements
// gets a position that no element of dx has.
//
// Bytes: x is read from memory once, choices are written once. L1 serves x three times, as in
// ops/pooling/pack_windows.h, where gather.h's choose loads it nine times. Arithmetic, for 16-bit
// elements: 176 warp instructions and 227 clocks of the ALU per output of 3x3; an H200 copies the
// same bytes in 189. (choose takes 78 instructions and 120 clocks for each of 9 taps.) Windows at
// stride 2 hardly overlap and need no choices: maximum_channels.h.
#pragma once

#include "ops/pooling/pack_windows.h"
#include "ops/pooling_backward/candidates.h"

namespace kg::pooling_backward {

using pooling::is_below;
using pooling::PackTile;
using pooling::PackWindows;
using pooling::Square;

inline constexpr int kChooseBlocksPerSm = 3; // at most 168 registers per thread

template <class T, int kKernel>
__global__ void __launch_bounds__(pooling::kPackThreads, kChooseBlocksPerSm)
    choose_packs(const T* __restrict__ x, std::uint8_t* __restrict__ choices, PackWindows w) {
  constexpr int kCount = kPackElements<T>;
  using Tile = PackTile<Square{kKernel, 1}>;
  constexpr int kRowsAtOnce = pooling::kPacksAtOnce / Tile::kColumns;
  static_assert((Tile::kRows - 1) * kKernel + Tile::kColumns - 1 <= kLastPlace);
  const unsigned index = blockIdx.x * pooling::kPackThreads + threadIdx.x;
  if (index >= w.threads) return;
  const pooling::PackPlace<Square{kKernel, 1}> at(index, w, kCount);
  const T* const plane = x + (at.plane * w.x_plane + at.inner);
  // Offset of the nearest input element from the tile's first one, which may be outside.
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
          if (j == o)
            of_row[o] = candidates;
          else if (is_below(j - o, kKernel))
            of_row[o].challenge(candidates);
        }
      }
      KG_UNROLL
      for (int d = 0; d < Tile::kDown; ++d) {
        KG_UNROLL
        for (int o = 0; o < Tile::kAcross; ++o) {
          if (begin + r == d)
            best[d][o] = of_row[o];
          else if (is_below(begin + r - d, kKernel))
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
        taps.element[e] = static_cast<std::uint8_t>(best[d][o].place(e) - (d * kKernel + o));
      store_wide(reinterpret_cast<Pack<std::uint8_t, kCount>*>(
                     to + (d * w.down.y_step + o * w.across.y_step)),
                 taps);
    }
  }
}

} // namespace kg::pooling_backward
