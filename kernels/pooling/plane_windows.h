// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The common square windows of nchw, whose kernel and stride the compiler knows: a thread has
// kStrip outputs down a column, and loads all that their windows hold before it looks at one
// element. Each row of taps is reduced once and handed to the windows that have it, in the order of
// strips.h, so the bits are the same.
//
// Bytes: as strips.h. Lanes lie side by side along the width and load single elements, 64 bytes per
// request in 16-bit types, so many requests must be under way: 27 elements a thread for 3x3 at
// stride 2, 1024 threads of a multiprocessor 54 KiB in 16 bits, where an H200 asks for 28. Expected
// on it: 85 % of a copy's rate. Why not packs of 16 bytes along the width: rows of 56 elements and
// their borders are aligned to nothing, and neighbouring lanes find each other's elements in L1.
#pragma once

#include "pooling/geometry.h"
#include "pooling/reduce.h"
#include "primitives/divisor.h"

namespace kg::pooling {

inline constexpr int kPlaneThreads = 256;
inline constexpr int kPlaneBlocksPerSm = 4; // at most 64 registers per thread
inline constexpr int kPlaneStrip = 4;
inline constexpr std::int64_t kMostPlaneThreads = std::int64_t{1} << 31; // NarrowDivisor

// Kernel and stride of both axes; taps are neighbours.
struct Square {
  int kernel, stride;
};

constexpr bool is(const Problem& p, Square square) {
  const auto fits = [&](const Axis& axis) {
    return axis.kernel == square.kernel && axis.stride == square.stride && axis.dilation == 1;
  };
  return fits(p.vertical) && fits(p.horizontal);
}

// What of an axis an average counts: the taps at coordinates from `begin` to before `end`, which
// are the input's, or its declared padding's, too.
struct CountedLine {
  int begin, end;

  CountedLine(const Line& line, bool include_padding)
      : begin(include_padding ? -line.before : 0),
        end(line.in + (include_padding ? line.after : 0)) {}

  // Of the `kernel` neighbours from coordinate `start` on.
  __device__ int taps(int start, int kernel) const {
    const auto below = [&](int limit) { return min(max(limit - start, 0), kernel); };
    return below(end) - below(begin);
  }
};

// Threads lie over columns of outputs first, then strips, then planes.
struct PlaneWindows {
  Line down, across;
  NarrowDivisor columns, strips;
  unsigned threads;
  std::int64_t x_plane, y_plane;
  CountedLine counted_down, counted_across;
};

// The window as two numbers: nvcc 13.0 makes no host code of a kernel with a class for an argument.
template <class Reduce, class T, int kKernel, int kStride>
__global__ void __launch_bounds__(kPlaneThreads, kPlaneBlocksPerSm)
    plane_windows(const T* __restrict__ x, T* __restrict__ y, PlaneWindows w) {
  constexpr Square square{kKernel, kStride};
  constexpr int kRows = (kPlaneStrip - 1) * square.stride + square.kernel;
  const unsigned index = blockIdx.x * kPlaneThreads + threadIdx.x;
  if (index >= w.threads) return;
  unsigned place = index;
  const auto column = static_cast<int>(w.columns.take_last(place));
  const int first = static_cast<int>(w.strips.take_last(place)) * kPlaneStrip;
  const std::int64_t plane = place;

  const int top = first * square.stride - w.down.before;
  const int left = column * square.stride - w.across.before;
  const T* const from = x + (plane * w.x_plane + top * w.down.x_step + left);
  const auto inside = [](int at, int extent) { // also of an `at` below 0
    return static_cast<unsigned>(at) < static_cast<unsigned>(extent);
  };
  StoredPack<T, 1> stored[kRows * square.kernel];
  KG_UNROLL
  for (int i = 0; i < kRows; ++i) {
    KG_UNROLL
    for (int j = 0; j < square.kernel; ++j) {
      StoredPack<T, 1>& tap = stored[i * square.kernel + j];
      if (inside(top + i, w.down.in) && inside(left + j, w.across.in))
        tap.load(from + i * w.down.x_step + j);
      else
        tap.set({from_float<T>(Reduce::kIdentity)});
    }
  }
  loaded(stored);
  float of_row[kRows];
  KG_UNROLL
  for (int i = 0; i < kRows; ++i) {
    of_row[i] = Reduce::kIdentity;
    KG_UNROLL
    for (int j = 0; j < square.kernel; ++j)
      of_row[i] = Reduce::combine(of_row[i], widened(stored[i * square.kernel + j]).value[0]);
  }

  const int counted_across = w.counted_across.taps(left, square.kernel);
  T* const to = y + (plane * w.y_plane + first * w.down.y_step + column);
  KG_UNROLL
  for (int o = 0; o < kPlaneStrip; ++o) {
    if (first + o >= w.down.out) break;
    float result = Reduce::kIdentity;
    KG_UNROLL
    for (int i = 0; i < square.kernel; ++i)
      result = Reduce::combine(result, of_row[o * square.stride + i]);
    const typename Reduce::Finish finish(
        counted_across * w.counted_down.taps(top + o * square.stride, square.kernel));
    to[o * w.down.y_step] = from_float<T>(finish(result));
  }
}

} // namespace kg::pooling
