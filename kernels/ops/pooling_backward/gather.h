// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient in two steps, choose and gather. Maxima need both, averages need gather alone.
//
// choose: stores which tap of each window is its maximum, a byte per output, in the layout of dy.
// gather: each thread has Count neighbouring channels of one position (nhwc) or one element (nchw).
// It adds up what the windows over it contribute, and writes it once. Common square windows have
// their own kernels: choose_packs.h and planes.h for the first step, tiles.h for the second.
// planes.h has the second for other maxima of nchw, whole_planes.h for averages of whole planes.
// For maxima of common windows at stride 2, maximum_strips.h does both steps at once.
//
// Bytes: x, dy and choices are read from memory once, dx and choices written once; choices cost 1/2
// byte per byte of a 16-bit dy. Neighbours share windows in L1. Arithmetic: about 20 operations per
// tap for the maximum, 10 (a division) per tap for the average. On an H200, that exceeds the memory
// time only where windows of stride 1 overlap ninefold. These kernels serve only uncommon windows,
// none of which has been timed. With choose, 3x3 maxima of nhwc at stride 2 had 49 % of copy
// bandwidth on an H200 (bf16), limited mostly by the instructions of choose.
//
// Why not one pass: each element would search all its windows again, k^2 reads in each of up to k^2
// windows (the naive kernel does). Why not atomics from the windows: the order of additions would
// vary, and dx would have to be zeroed first.
#pragma once

#include "ops/pooling/reduce.h"
#include "ops/pooling_backward/windows.h"

#include <cstdint>

namespace kg::pooling_backward {

using pooling::Place;
using pooling::place_of;

inline constexpr int kThreads = 256;
inline constexpr int kBlocksPerSm = 4; // at most 64 registers per thread
// Windows whose gradients a thread loads before it uses the first: all windows over an element for
// 3x3 at stride 2. Averages need more registers per window and load half as many.
template <bool Maximum>
inline constexpr int kWindowsAtOnce = Maximum ? 4 : 2;

template <class T, int Count>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    choose(const T* __restrict__ x, std::uint8_t* __restrict__ choices, Geometry g, unsigned packs,
           unsigned threads) {
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= threads) return;
  const Place at = place_of(index, packs, Count, g.horizontal.out, g.vertical.out);
  const Taps down = pooling::taps_of(g.vertical, at.row);
  const Taps across = pooling::taps_of(g.horizontal, at.column);
  const T* from = x + (at.outer * g.x_plane + at.inner);
  Floats<Count> most = pooling::identity<pooling::Max, Count>();
  Pack<std::uint8_t, Count> choice;
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    choice.element[e] = static_cast<std::uint8_t>(down.first * g.horizontal.kernel + across.first);
  for (int i = down.first; i < down.end; ++i) {
    const std::int64_t row = (down.start + i * g.vertical.dilation) * g.vertical.x_step;
    for (int j = across.first; j < across.end; ++j) {
      const std::int64_t column = (across.start + j * g.horizontal.dilation) * g.horizontal.x_step;
      StoredPack<T, Count> stored;
      stored.load(from + (row + column));
      const Floats<Count> values = widened(stored);
      const auto tap = static_cast<std::uint8_t>(i * g.horizontal.kernel + j);
      KG_UNROLL
      for (int e = 0; e < Count; ++e) {
        if (!exceeds(values.value[e], most.value[e])) continue;
        most.value[e] = values.value[e];
        choice.element[e] = tap;
      }
    }
  }
  const std::int64_t to = at.outer * g.y_plane + at.row * g.vertical.y_step +
                          at.column * g.horizontal.y_step + at.inner;
  store_wide(reinterpret_cast<Pack<std::uint8_t, Count>*>(choices + to), choice);
}

// Thread index order over dx: packs of innermost elements (fastest), columns, rows, planes.
struct Elements {
  Gathered down, across;
  NarrowDivisor packs, columns, rows;
  unsigned threads;
  std::int64_t y_plane;
};

// `choices` is null for an average. A thread loads the gradients of several windows before it uses
// the first.
template <bool Maximum, class T, int Count>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gather(const T* __restrict__ dy, const std::uint8_t* __restrict__ choices, T* __restrict__ dx,
           Elements elements) {
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= elements.threads) return;
  const Gathered& vertical = elements.down;
  const Gathered& horizontal = elements.across;
  const unsigned before_packs = elements.packs.quotient(index);
  const unsigned before_columns = elements.columns.quotient(before_packs);
  const unsigned plane = elements.rows.quotient(before_columns);
  const auto column = static_cast<int>(before_packs - before_columns * elements.columns.value);
  const auto row = static_cast<int>(before_columns - plane * elements.rows.value);
  const std::int64_t from =
      plane * elements.y_plane +
      static_cast<std::int64_t>(index - before_packs * elements.packs.value) * Count;
  const Windows down = vertical.windows_over(row);
  const Windows across = horizontal.windows_over(column);

  Floats<Count> sum = pooling::identity<pooling::Average, Count>();
  int i = down.first;
  int j = across.first;
  while (i < down.end && across.first < across.end) {
    StoredPack<T, Count> gradients[kWindowsAtOnce<Maximum>];
    StoredPack<std::uint8_t, Count> chosen[kWindowsAtOnce<Maximum>];
    int tap[kWindowsAtOnce<Maximum>];
    int taps[kWindowsAtOnce<Maximum>]; // that the window's average counts
    KG_UNROLL
    for (int w = 0; w < kWindowsAtOnce<Maximum>; ++w) {
      const int tap_down = i < down.end ? vertical.tap_at(i, row) : -1;
      const int tap_across = horizontal.tap_at(j, column);
      const bool holds = tap_down >= 0 && tap_across >= 0;
      tap[w] = holds ? tap_down * horizontal.kernel + tap_across : -1;
      const std::int64_t window = from + i * vertical.y_step + j * horizontal.y_step;
      if (holds) gradients[w].load(dy + window);
      if constexpr (Maximum) {
        if (holds) chosen[w].load(choices + window);
      } else {
        taps[w] = vertical.counted(i) * horizontal.counted(j);
      }
      if (++j < across.end) continue;
      j = across.first;
      ++i;
    }
    loaded(gradients);
    if constexpr (Maximum) loaded(chosen);
    KG_UNROLL
    for (int w = 0; w < kWindowsAtOnce<Maximum>; ++w) {
      if (tap[w] < 0) continue;
      const Floats<Count> values = widened(gradients[w]);
      if constexpr (Maximum) {
        const Pack<std::uint8_t, Count> choice = chosen[w].pack();
        KG_UNROLL
        for (int e = 0; e < Count; ++e)
          if (choice.element[e] == tap[w]) sum.value[e] += values.value[e];
      } else {
        const WholeDivisor share(static_cast<float>(taps[w]));
        KG_UNROLL
        for (int e = 0; e < Count; ++e) sum.value[e] += share.quotient(values.value[e]);
      }
    }
  }
  Pack<T, Count> stored;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) stored.element[e] = from_float<T>(sum.value[e]);
  store_wide(reinterpret_cast<Pack<T, Count>*>(dx) + index, stored);
}

} // namespace kg::pooling_backward
