// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The strips of maximum_strips.h for images whose channels are whole packs (nhwc). A thread's strip
// is four columns wide, for one pack of channels. Each element becomes a candidate once, for all of
// the thread's windows that contain it.
//
// For a tap before a row, the nearest element stands in, with its own position. For a tap after a
// row, the nearest element precedes its copies, which thus lose; columns there are not stored.
//
// Bytes: x and dy are read from memory once, dx is written once, and no choices are stored. A strip
// of 38 rows reads three rows of x and one of dy that its neighbours also read; L1 serves x 1.9
// times. For 3x3, a thread has 272 bytes in flight, a multiprocessor 68 KiB. Arithmetic, in 16
// bits: 1,199 warp instructions per row of windows, and 1,550 clocks of the ALU, of 2,200 in which
// an H200 copies the same bytes. Expected there: 85 % of copy bandwidth. choose_packs and
// gather_tiles had 80 % (bf16), with 1.1 times the bytes.
#pragma once

#include "ops/pooling_backward/maximum_strips.h"

namespace kg::pooling_backward {

inline constexpr int kMaximumChannelsBlocksPerSm = 2; // at most 255 registers per thread
inline constexpr int kMaximumChannelsAhead = 1;       // rows of windows loaded ahead
inline constexpr int kMaximumColumns = 4;

// Strips begin at the second tap of overlapping windows, at the first tap of others. This minimizes
// the number of windows over a strip.
template <int kKernel>
inline constexpr int kMaximumPhase = kKernel - kMaximumStride;

// The columns of x in all windows over a thread's own columns; some may be outside the input.
template <class T, int kKernel>
struct ColumnsOfChannels {
  static constexpr int kAcross = kMaximumColumns;
  static constexpr int kChannels = kPackElements<T>;
  using Windows = Span<kKernel, kMaximumStride, kMaximumPhase<kKernel>, kAcross>;
  static constexpr int kBefore = Windows::kBefore * kMaximumStride + kMaximumPhase<kKernel>;
  static constexpr int kColumns = (Windows::kWindows - 1) * kMaximumStride + kKernel;
  using Best = Candidates<T, kChannels>;
  struct Row {
    StoredPack<T, kChannels> packs[kColumns];

    __device__ __forceinline__ void loaded() { kg::loaded(packs); }
  };

  const T *from, *dy;
  T* to;
  int column; // the first; it and its windows may begin before the input
  const TiledAxis& axis;

  __device__ ColumnsOfChannels(const T* from, const T* dy, T* to, int column, const TiledAxis& axis)
      : from(from), dy(dy), to(to), column(column), axis(axis) {}

  __device__ __forceinline__ void prefetch(Row& row, int offset) const {
    const auto step = static_cast<int>(axis.x_step);
    KG_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      const int nearest = min(max(column - kBefore + c, 0), axis.in - 1);
      row.packs[c].load(from + (offset + nearest * step));
    }
  }
  __device__ __forceinline__ void prefetch(StoredPack<T, kChannels> (&gradients)[Windows::kWindows],
                                           int offset, bool exists) const {
    const auto step = static_cast<int>(axis.y_step);
    const int left =
        (column + axis.before - kMaximumPhase<kKernel>) / kMaximumStride - Windows::kBefore;
    KG_UNROLL
    for (int j = 0; j < Windows::kWindows; ++j)
      if (exists && is_below(left + j, axis.windows))
        gradients[j].load(dy + (offset + (left + j) * step));
  }
  __device__ __forceinline__ void best_of_row(Best (&best)[Windows::kWindows], const Row& row,
                                              int place) const {
    KG_UNROLL
    for (int c = 0; c < kColumns; ++c) {
      const int nearest = c > kBefore ? c : max(column - kBefore + c, 0) - (column - kBefore);
      challenge<kKernel>(best, c, Best(row.packs[c], place + nearest));
    }
  }
  __device__ __forceinline__ void store(int offset, const Floats<kChannels> (&sums)[kAcross],
                                        bool exists) const {
    const auto step = static_cast<int>(axis.x_step);
    Pack<T, kChannels> stored[kAcross];
    KG_UNROLL
    for (int e = 0; e < kAcross; ++e) {
      KG_UNROLL
      for (int c = 0; c < kChannels; ++c) stored[e].element[c] = from_float<T>(sums[e].value[c]);
    }
    KG_UNROLL
    for (int e = 0; e < kAcross; ++e)
      if (exists && is_below(column + e, axis.in))
        store_wide(reinterpret_cast<Pack<T, kChannels>*>(to + (offset + (column + e) * step)),
                   stored[e]);
  }
};

template <int kKernel>
Strips strips_of_channels(const Geometry& g, int pack) {
  const int shift = (g.horizontal.before + kMaximumPhase<kKernel>) % kMaximumStride;
  return strips_of<kKernel>(g, TiledAxis(g.horizontal, false, kMaximumColumns, shift),
                            g.inner / pack, kMaximumChannelsBlocksPerSm);
}

template <class T, int kKernel>
__global__ void __launch_bounds__(kMaximumThreads, kMaximumChannelsBlocksPerSm)
    maximum_channels(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx,
                     Strips strips) {
  const TiledAxis& across = strips.across;
  unsigned plane = blockIdx.x * kMaximumThreads + threadIdx.x;
  if (plane >= strips.threads) return;
  const std::int64_t inner =
      static_cast<std::int64_t>(strips.packs.take_last(plane)) * kPackElements<T>;
  const int column =
      static_cast<int>(across.tiles.take_last(plane)) * kMaximumColumns - across.shift;
  const int row =
      static_cast<int>(strips.down.tiles.take_last(plane)) * strips.rows - strips.down.shift;
  const std::int64_t in_x = plane * strips.x_plane + inner;
  hand_to_maxima<kKernel, kMaximumChannelsAhead, T>(
      strips, row,
      ColumnsOfChannels<T, kKernel>(x + in_x, dy + (plane * strips.y_plane + inner), dx + in_x,
                                    column, across));
}

} // namespace kg::pooling_backward
