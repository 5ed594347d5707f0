// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pooling by strips: a thread has kStrip neighbouring outputs along one axis, `along`, and walks
// the input coordinates of that axis once. At each coordinate that a window of the strip contains,
// it reduces the taps of the other axis, `across`, and passes the result to all windows that
// contain it. Overlapping windows thus share loads and reductions.
//
// nhwc: 16-byte packs of channels; the strip lies along the width. nchw: single elements, with
// lanes adjacent along the width, so that a warp's loads of a tap are contiguous (stride 1); the
// strip lies along the height.
//
// Bytes: x is read from memory once, if the rows of a window stay in L1 and L2; y is written once.
// 3x3 windows at stride 1 load 4.5 elements per output from L1 instead of 9. A thread has 3 packs
// in flight, the 640 threads of a multiprocessor 30 KiB, less than an H200 needs.
//
// Why no tile in shared memory: neighbouring threads find the halo in L1, and a barrier between
// load and use would need more blocks to hide it. Why no template over kernel and stride: windows
// vary too much. Common windows have their own kernels: pack_windows.h for nhwc, row_windows.h and
// plane_windows.h for nchw.
#pragma once

#include "ops/pooling/geometry.h"
#include "ops/pooling/reduce.h"

namespace kg::pooling {

inline constexpr int kStripThreads = 128;
inline constexpr int kStripBlocksPerSm = 5; // at most 102 registers per thread
inline constexpr int kStrip = 4;
inline constexpr int kTapsInFlight = 3; // loads per thread before the first use

// Thread index order: packs of innermost elements (fastest), positions across, strips. With
// `strips_first`, for strips along the width, strips precede positions across.
struct Strips {
  Line along, across;
  unsigned packs;
  unsigned strips;
  bool strips_first;
  unsigned threads;
  std::int64_t x_plane, y_plane;
  bool include_padding;
};

// Reduces `taps` packs, `step` elements apart, in order.
template <class Reduce, class T, int Count>
__device__ __forceinline__ Floats<Count> reduce_taps(const T* from, int taps, std::int64_t step) {
  Floats<Count> result = identity<Reduce, Count>();
  for (int first = 0; first < taps; first += kTapsInFlight) {
    StoredPack<T, Count> stored[kTapsInFlight] = {};
    KG_UNROLL
    for (int t = 0; t < kTapsInFlight; ++t)
      if (first + t < taps) stored[t].load(from + (first + t) * step);
    loaded(stored);
    KG_UNROLL
    for (int t = 0; t < kTapsInFlight; ++t)
      if (first + t < taps) combine<Reduce>(result, widened(stored[t]));
  }
  return result;
}

template <class Reduce, class T, int Count>
__global__ void __launch_bounds__(kStripThreads, kStripBlocksPerSm)
    strips(const T* __restrict__ x, T* __restrict__ y, Strips s) {
  const unsigned index = blockIdx.x * kStripThreads + threadIdx.x;
  if (index >= s.threads) return;
  const unsigned fast_extent = s.strips_first ? s.strips : static_cast<unsigned>(s.across.out);
  const unsigned slow_extent = s.strips_first ? static_cast<unsigned>(s.across.out) : s.strips;
  const unsigned place = index / s.packs;
  const unsigned fast = place % fast_extent;
  const unsigned slow = place / fast_extent % slow_extent;
  const std::int64_t plane = place / fast_extent / slow_extent;
  const std::int64_t inner = static_cast<std::int64_t>(index % s.packs) * Count;
  const int first = static_cast<int>(s.strips_first ? fast : slow) * kStrip;
  const int line = static_cast<int>(s.strips_first ? slow : fast);

  // Coordinates along: each window's next and last tap.
  const Taps across = taps_of(s.across, line);
  Floats<Count> result[kStrip];
  int next[kStrip];
  int last[kStrip];
  int at = s.along.in;
  int end = 0;
  KG_UNROLL
  for (int o = 0; o < kStrip; ++o) {
    result[o] = identity<Reduce, Count>();
    const Taps taps = first + o < s.along.out ? taps_of(s.along, first + o) : Taps{};
    const bool any = taps.first < taps.end;
    next[o] = any ? taps.start + taps.first * s.along.dilation : s.along.in;
    last[o] = any ? taps.start + (taps.end - 1) * s.along.dilation : 0;
    at = next[o] < at ? next[o] : at;
    end = any && last[o] >= end ? last[o] + 1 : end;
  }

  const int taps_inside = across.end - across.first;
  const std::int64_t step = s.across.dilation * s.across.x_step;
  const T* from =
      x + (plane * s.x_plane + inner + across.start * s.across.x_step + across.first * step);
  for (; at < end; ++at) {
    bool wanted = false;
    KG_UNROLL
    for (int o = 0; o < kStrip; ++o) wanted = wanted || next[o] == at;
    if (!wanted) continue;
    const Floats<Count> values =
        reduce_taps<Reduce, T, Count>(from + at * s.along.x_step, taps_inside, step);
    KG_UNROLL
    for (int o = 0; o < kStrip; ++o) {
      if (next[o] != at) continue;
      combine<Reduce>(result[o], values);
      next[o] = at < last[o] ? at + s.along.dilation : s.along.in;
    }
  }

  T* to = y + plane * s.y_plane + inner + line * s.across.y_step;
  KG_UNROLL
  for (int o = 0; o < kStrip; ++o) {
    if (first + o >= s.along.out) break;
    const Taps taps = taps_of(s.along, first + o);
    const typename Reduce::Finish finish(counted_taps(taps, across, s.include_padding));
    Pack<T, Count> stored;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) stored.element[e] = from_float<T>(finish(result[o].value[e]));
    store_wide(reinterpret_cast<Pack<T, Count>*>(to + (first + o) * s.along.y_step), stored);
  }
}

} // namespace kg::pooling
