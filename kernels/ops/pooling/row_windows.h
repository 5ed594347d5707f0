// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The common square windows of nchw if rows of x and y are whole packs. A thread has a pack of
// outputs in several adjacent rows. It loads all elements of their windows, pack by pack, before it
// uses the first. Each row of taps is reduced once and passed to the windows that contain it, in
// the order of strips.h, so the bits are the same.
//
// Bytes: x is read from memory once, y written once; at either stride L1 or L2 serves x 1.5 times,
// mostly to threads of one block. Arithmetic, for 16-bit elements: about 190 warp instructions per
// pack of outputs of 3x3 averages at stride 1, of 252 that an H200 issues while it copies the same
// bytes. With single elements (plane_windows.h), these averages took 640 instructions and had 34 %
// of copy bandwidth there; maxima at stride 2 had 76 %.
#pragma once

#include "ops/pooling/geometry.h"
#include "ops/pooling/plane_windows.h"
#include "ops/pooling/reduce.h"
#include "primitives/divisor.h"
#include "primitives/row_of_packs.h"

namespace kg::pooling {

inline constexpr int kRowThreads = 256;
inline constexpr int kRowBlocksPerSm = 4; // at most 64 registers per thread

// Rows of outputs per thread.
template <int kStride>
inline constexpr int kRowsBelow = kStride == 1 ? 4 : 1;

// Whether all rows are whole packs and the windows of a pack of outputs span `stride` packs of x
// and at most one element on each side.
constexpr bool has_rows_of_packs(const Problem& p, Square square, int pack) {
  return p.layout == Layout::nchw && p.out_width() % pack == 0 &&
         p.width == p.out_width() * square.stride &&
         p.horizontal.pad_before == (square.kernel - 1) / 2;
}

// Thread index order: packs of a row of outputs (fastest), rows of a plane, planes.
struct RowWindows {
  Line down, across;
  NarrowDivisor packs, strips;
  unsigned threads;
  std::int64_t x_plane, y_plane;
  CountedLine counted_down, counted_across;
};

template <Square square>
RowWindows row_windows_of(const Geometry& g, int pack, bool include_padding) {
  const std::int64_t packs = g.horizontal.out / pack;
  const std::int64_t strips = div_up(g.vertical.out, kRowsBelow<square.stride>);
  return {g.vertical,
          g.horizontal,
          NarrowDivisor(packs),
          NarrowDivisor(strips),
          static_cast<unsigned>(g.outer * strips * packs),
          g.x_plane,
          g.y_plane,
          CountedLine(g.vertical, include_padding),
          CountedLine(g.horizontal, include_padding)};
}

template <class Reduce, class T, int kKernel, int kStride>
__global__ void __launch_bounds__(kRowThreads, kRowBlocksPerSm)
    row_windows(const T* __restrict__ x, T* __restrict__ y, RowWindows w) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kOut = kRowsBelow<kStride>;
  constexpr int kIn = (kOut - 1) * kStride + kKernel;
  constexpr int kBefore = (kKernel - 1) / 2;
  constexpr int kBehind = kKernel - kStride - kBefore;
  static_assert(kBefore <= 1 && kBehind >= 0 && kBehind <= 1);
  unsigned plane = blockIdx.x * kRowThreads + threadIdx.x;
  if (plane >= w.threads) return;
  const auto pack = static_cast<int>(w.packs.take_last(plane));
  const int first = static_cast<int>(w.strips.take_last(plane)) * kOut;
  const int top = first * kStride - w.down.before;
  const int left = pack * (kCount * kStride) - kBefore;
  const T* const from = x + (plane * w.x_plane + top * w.down.x_step + pack * (kCount * kStride));
  RowOfPacks<T, kStride, kBefore, kBehind> rows[kIn];
  KG_UNROLL
  for (int i = 0; i < kIn; ++i)
    rows[i].load(from + i * w.down.x_step, is_below(top + i, w.down.in), pack > 0,
                 pack + 1 < static_cast<int>(w.packs.value), from_float<T>(Reduce::kIdentity));
  KG_UNROLL
  for (int i = 0; i < kIn; ++i) rows[i].loaded();

  Floats<kCount> result[kOut];
  KG_UNROLL
  for (int i = 0; i < kIn; ++i) {
    auto taps = rows[i].widened();
    if constexpr (Reduce::kShares)
      taps = Reduce::shared_row(taps, w.counted_down.taps(top + i, kKernel),
                                w.counted_across.taps(left + kBefore, kKernel),
                                w.counted_across.taps(left + kCount, kKernel));
    Floats<kCount> of_row;
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) {
      of_row.value[e] = taps.value[e * kStride];
      KG_UNROLL
      for (int j = 1; j < kKernel; ++j)
        of_row.value[e] = Reduce::combine(of_row.value[e], taps.value[e * kStride + j]);
    }
    KG_UNROLL
    for (int o = 0; o < kOut; ++o) {
      const int tap = i - o * kStride;
      if (tap == 0)
        result[o] = pooling::first<Reduce>(of_row);
      else if (is_below(tap, kKernel))
        combine<Reduce>(result[o], of_row);
    }
  }

  // Only the first and last windows of a row may extend beyond it.
  const int of_first = w.counted_across.taps(left, kKernel);
  const int of_last = w.counted_across.taps(left + (kCount - 1) * kStride, kKernel);
  T* const to = y + (plane * w.y_plane + first * w.down.y_step + pack * kCount);
  KG_UNROLL
  for (int o = 0; o < kOut; ++o) {
    if (first + o >= w.down.out) break;
    const int counted_down = w.counted_down.taps(top + o * kStride, kKernel);
    const typename Reduce::Finish begin(counted_down * of_first);
    const typename Reduce::Finish middle(counted_down * kKernel);
    const typename Reduce::Finish end(counted_down * of_last);
    Pack<T, kCount> stored;
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) {
      const typename Reduce::Finish& finish = e == 0 ? begin : e + 1 < kCount ? middle : end;
      stored.element[e] = from_float<T>(finish(result[o].value[e]));
    }
    store_wide(reinterpret_cast<Pack<T, kCount>*>(to + o * w.down.y_step), stored);
  }
}

} // namespace kg::pooling
