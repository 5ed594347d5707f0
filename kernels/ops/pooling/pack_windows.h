// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The common square windows of nhwc, with kernel and stride known at compile time. A thread
// computes a tile of outputs for 16 bytes of channels and loads several columns of input before it
// uses the first element. Each column of taps is reduced once and passed to the windows that
// contain it, in the order of strips.h, so the bits are the same.
//
// Bytes: x is read from memory once, y written once. L1 serves x 1.6 times for 3x3 at stride 2, 3
// times at stride 1. A thread has up to 16 packs in flight; the 512 threads of a multiprocessor
// have 96 KiB and more, where an H200 needs 40. Arithmetic, for 16-bit elements: 188 warp
// instructions per output of 3x3 maxima at stride 2, of 630 that an H200 issues while it copies the
// same bytes. Modelled: 98 % of copy bandwidth. strips.h waits for 3 packs at a time and tests at
// each column which windows need it; it had 57 % on an H200 (bf16).
#pragma once

#include "ops/pooling/geometry.h"
#include "ops/pooling/plane_windows.h"
#include "ops/pooling/reduce.h"
#include "primitives/divisor.h"
#include "primitives/unpack_pairs.h"
#include "runtime/preconditions.h"

namespace kg::pooling {

inline constexpr int kPackThreads = 128;
inline constexpr int kPackBlocksPerSm = 4; // at most 128 registers per thread
inline constexpr int kPacksAtOnce = 16;    // loads per thread before the first use

// A tile: the outputs of a thread, and the rows and columns of x in their windows.
template <Square square>
struct PackTile {
  static constexpr int kDown = 2;
  static constexpr int kAcross = square.stride == 1 ? 4 : 2;
  static constexpr int kRows = (kDown - 1) * square.stride + square.kernel;
  static constexpr int kColumns = (kAcross - 1) * square.stride + square.kernel;
  static constexpr int kColumnsAtOnce = kPacksAtOnce / kRows;
};

// Thread index order: packs of channels (fastest), tiles of a row, rows of tiles, images.
struct PackWindows {
  Line down, across;
  NarrowDivisor packs, columns, rows;
  unsigned threads;
  std::int64_t x_plane, y_plane;
  CountedLine counted_down, counted_across;
};

template <Square square>
PackWindows pack_windows_of(const Geometry& g, int pack, bool include_padding) {
  using Tile = PackTile<square>;
  const std::int64_t packs = g.inner / pack;
  const std::int64_t columns = div_up(g.horizontal.out, Tile::kAcross);
  const std::int64_t rows = div_up(g.vertical.out, Tile::kDown);
  return {g.vertical,
          g.horizontal,
          NarrowDivisor(packs),
          NarrowDivisor(columns),
          NarrowDivisor(rows),
          static_cast<unsigned>(g.outer * rows * columns * packs),
          g.x_plane,
          g.y_plane,
          CountedLine(g.vertical, include_padding),
          CountedLine(g.horizontal, include_padding)};
}

// The position of a thread's tile: its image and first channel, its first output, and the first
// element of that output's window.
template <Square square>
struct PackPlace {
  std::int64_t plane, inner;
  int row, column, top, left;

  __device__ PackPlace(unsigned place, const PackWindows& w, int pack) {
    using Tile = PackTile<square>;
    inner = static_cast<std::int64_t>(w.packs.take_last(place)) * pack;
    column = static_cast<int>(w.columns.take_last(place)) * Tile::kAcross;
    row = static_cast<int>(w.rows.take_last(place)) * Tile::kDown;
    plane = place;
    top = row * square.stride - w.down.before;
    left = column * square.stride - w.across.before;
  }
  __device__ std::int64_t first_output(const PackWindows& w) const {
    return plane * w.y_plane + row * w.down.y_step + column * w.across.y_step + inner;
  }
};

template <class Reduce, class T, int kKernel, int kStride>
__global__ void __launch_bounds__(kPackThreads, kPackBlocksPerSm)
    pack_windows(const T* __restrict__ x, T* __restrict__ y, PackWindows w) {
  constexpr int kCount = kPackElements<T>;
  using Tile = PackTile<Square{kKernel, kStride}>;
  const unsigned index = blockIdx.x * kPackThreads + threadIdx.x;
  if (index >= w.threads) return;
  const PackPlace<Square{kKernel, kStride}> at(index, w, kCount);
  const T* from =
      x + (at.plane * w.x_plane + at.top * w.down.x_step + at.left * w.across.x_step + at.inner);
  const bool surrounded = at.top >= 0 && at.top + Tile::kRows <= w.down.in && at.left >= 0 &&
                          at.left + Tile::kColumns <= w.across.in;
  Pack<T, kCount> outside;
  KG_UNROLL
  for (int e = 0; e < kCount; ++e) outside.element[e] = from_float<T>(Reduce::kIdentity);

  Floats<kCount> result[Tile::kDown][Tile::kAcross];
  KG_UNROLL
  for (int begin = 0; begin < Tile::kColumns; begin += Tile::kColumnsAtOnce) {
    constexpr int kMost = Tile::kColumnsAtOnce;
    const int columns = min(kMost, Tile::kColumns - begin);
    StoredPack<T, kCount> stored[kMost][Tile::kRows] = {};
    const auto load = [&](auto is_input) __attribute__((always_inline)) {
      KG_UNROLL
      for (int c = 0; c < kMost; ++c) {
        const T* tap = from + c * w.across.x_step;
        KG_UNROLL
        for (int i = 0; i < Tile::kRows; ++i, tap += w.down.x_step) {
          if (c >= columns) continue;
          if (is_input(at.top + i, at.left + begin + c))
            stored[c][i].load(tap);
          else
            stored[c][i].set(outside);
        }
      }
    };
    if (surrounded)
      load([](int, int) { return true; });
    else
      load([&](int down, int across) {
        return is_below(down, w.down.in) && is_below(across, w.across.in);
      });
    from += kMost * w.across.x_step;
    KG_UNROLL
    for (int c = 0; c < kMost; ++c) loaded(stored[c]);
    KG_UNROLL
    for (int c = 0; c < kMost; ++c) {
      if (c >= columns) continue;
      Floats<kCount> values[Tile::kRows];
      KG_UNROLL
      for (int i = 0; i < Tile::kRows; ++i) {
        values[i] = unpack_pairs(stored[c][i]);
        if constexpr (Reduce::kShares)
          values[i] = Reduce::shared(values[i], w.counted_down.taps(at.top + i, kKernel),
                                     w.counted_across.taps(at.left + begin + c, kKernel));
      }
      KG_UNROLL
      for (int d = 0; d < Tile::kDown; ++d) {
        Floats<kCount> of_column = values[d * kStride];
        KG_UNROLL
        for (int i = 1; i < kKernel; ++i) combine<Reduce>(of_column, values[d * kStride + i]);
        KG_UNROLL
        for (int o = 0; o < Tile::kAcross; ++o) {
          const int tap = begin + c - o * kStride;
          if (tap == 0)
            result[d][o] = pooling::first<Reduce>(of_column);
          else if (is_below(tap, kKernel))
            combine<Reduce>(result[d][o], of_column);
        }
      }
    }
  }

  T* const to = y + at.first_output(w);
  KG_UNROLL
  for (int d = 0; d < Tile::kDown; ++d) {
    if (at.row + d >= w.down.out) break;
    const int counted_down = w.counted_down.taps(at.top + d * kStride, kKernel);
    KG_UNROLL
    for (int o = 0; o < Tile::kAcross; ++o) {
      if (at.column + o >= w.across.out) break;
      const typename Reduce::Finish finish(counted_down *
                                           w.counted_across.taps(at.left + o * kStride, kKernel));
      Pack<T, kCount> pack;
      KG_UNROLL
      for (int e = 0; e < kCount; ++e)
        pack.element[e] = from_float<T>(finish(result[d][o].value[e]));
      store_wide(reinterpret_cast<Pack<T, kCount>*>(to + d * w.down.y_step + o * w.across.y_step),
                 pack);
    }
  }
}

} // namespace kg::pooling
