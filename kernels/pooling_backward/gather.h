// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient in two steps that a maximum needs, of which an average needs the second alone.
//
// choose: which tap of each window is its maximum, a byte per output, in the layout of dy. gather:
// each thread has Count neighbouring channels of one place (nhwc) or one element (nchw), adds up
// what the windows over it hand to it, and writes it once.
//
// Bytes: x, dy and the choices are read from memory once, dx and the choices written once; the
// choices cost 1/2 of a byte per byte of a 16-bit dy. Neighbours share windows in L1. Arithmetic:
// about 20 operations per tap for the maximum, 10 (a division) per tap for the average; an H200
// moves memory for less than that only where windows of stride 1 overlap ninefold. 1024 threads of
// a multiprocessor have 16 KiB under way, 24 KiB with the choices, less than the 28 KiB that its
// memory asks for. Expected on an H200: 70 % of a copy's rate at stride 2, 50 % at 3x3 and
// stride 1.
//
// Why not one pass: each element would search all of its windows again, k^2 reads for each of up to
// k^2 of them (that is the naive kernel). Why not atomics from the windows: another order of
// additions each time, and zeros to write first.
#pragma once

#include "pooling/reduce.h"
#include "pooling_backward/windows.h"

#include <cstdint>

namespace kg::pooling_backward {

using pooling::Place;
using pooling::place_of;

inline constexpr int kThreads = 256;
inline constexpr int kBlocksPerSm = 4; // at most 64 registers per thread

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

// `choices` for a maximum; null for an average.
template <bool Maximum, class T, int Count>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    gather(const T* __restrict__ dy, const std::uint8_t* __restrict__ choices, T* __restrict__ dx,
           Geometry g, bool include_padding, unsigned packs, unsigned threads) {
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= threads) return;
  const Place at = place_of(index, packs, Count, g.horizontal.in, g.vertical.in);
  const Windows down = windows_over(g.vertical, at.row);
  const Windows across = windows_over(g.horizontal, at.column);
  Floats<Count> sum = pooling::identity<pooling::Average, Count>();
  for (int i = down.first; i < down.end; ++i) {
    const int tap_down = tap_at(g.vertical, i, at.row);
    if (tap_down < 0) continue;
    const std::int64_t row = at.outer * g.y_plane + i * g.vertical.y_step + at.inner;
    for (int j = across.first; j < across.end; ++j) {
      const int tap_across = tap_at(g.horizontal, j, at.column);
      if (tap_across < 0) continue;
      const std::int64_t window = row + j * g.horizontal.y_step;
      StoredPack<T, Count> gradient;
      gradient.load(dy + window);
      const Floats<Count> values = widened(gradient);
      if constexpr (Maximum) {
        const auto chosen = *reinterpret_cast<const Pack<std::uint8_t, Count>*>(choices + window);
        const int tap = tap_down * g.horizontal.kernel + tap_across;
        KG_UNROLL
        for (int e = 0; e < Count; ++e)
          if (chosen.element[e] == tap) sum.value[e] += values.value[e];
      } else {
        const float share = divisor(g, i, j, include_padding);
        KG_UNROLL
        for (int e = 0; e < Count; ++e) sum.value[e] += values.value[e] / share;
      }
    }
  }
  Pack<T, Count> stored;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) stored.element[e] = from_float<T>(sum.value[e]);
  const std::int64_t to = at.outer * g.x_plane + at.row * g.vertical.x_step +
                          at.column * g.horizontal.x_step + at.inner;
  store_wide(reinterpret_cast<Pack<T, Count>*>(dx + to), stored);
}

} // namespace kg::pooling_backward
