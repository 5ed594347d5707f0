// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The common square windows of nchw, with kernel and stride known at compile time. A thread has
// kPlaneStrip outputs down a column and loads all elements of their windows before it uses the
// first. Each row of taps is reduced once and passed to the windows that contain it, in the order
// of strips.h, so the bits are the same.
//
// Bytes: as in strips.h. Lanes are adjacent along the width and load single elements, 64 bytes per
// request in 16-bit types, so many requests must be in flight. For 3x3 at stride 2, a thread has 27
// elements in flight and the 1024 threads of a multiprocessor 54 KiB in 16 bits, where an H200
// needs 28. On an H200 (bf16), 3x3 maxima at stride 2 had 76 % of copy bandwidth. Averages at
// stride 1, with 320 instructions per 4 elements of a thread, had 34 %. Rows of whole 16-byte packs
// have their own kernel: row_windows.h.
#pragma once

#include "ops/pooling/geometry.h"
#include "ops/pooling/reduce.h"
#include "primitives/divisor.h"
#include "runtime/preconditions.h"

namespace kg::pooling {

inline constexpr int kPlaneThreads = 256;
inline constexpr int kPlaneBlocksPerSm = 4; // at most 64 registers per thread
inline constexpr int kPlaneStrip = 4;
inline constexpr std::int64_t kMostPlaneThreads = std::int64_t{1} << 31; // NarrowDivisor

// Kernel and stride of both axes, without dilation.
struct Square {
  int kernel, stride;
};

constexpr bool is(const Problem& p, Square square) {
  const auto fits = [&](const Axis& axis) {
    return axis.kernel == square.kernel && axis.stride == square.stride && axis.dilation == 1;
  };
  return fits(p.vertical) && fits(p.horizontal);
}

// Whether 0 <= at < extent.
__host__ __device__ constexpr bool is_below(int at, int extent) {
  return static_cast<unsigned>(at) < static_cast<unsigned>(extent);
}

// The taps along an axis that an average counts: those at coordinates [begin, end), which span the
// input, or the input and its declared padding.
struct CountedLine {
  int begin, end;

  CountedLine(const Line& line, bool include_padding)
      : begin(include_padding ? -line.before : 0),
        end(line.in + (include_padding ? line.after : 0)) {}

  // How many of the `kernel` taps from coordinate `start` on are counted.
  __device__ int taps(int start, int kernel) const {
    const auto below = [&](int limit) { return min(max(limit - start, 0), kernel); };
    return below(end) - below(begin);
  }
};

// Thread index order: columns of outputs (fastest), strips, planes.
struct PlaneWindows {
  Line down, across;
  NarrowDivisor columns, strips;
  unsigned threads;
  std::int64_t x_plane, y_plane;
  CountedLine counted_down, counted_across;
};

inline PlaneWindows plane_windows_of(const Geometry& g, bool include_padding) {
  const std::int64_t strips = div_up(g.vertical.out, kPlaneStrip);
  return {g.vertical,
          g.horizontal,
          NarrowDivisor(g.horizontal.out),
          NarrowDivisor(strips),
          static_cast<unsigned>(g.outer * strips * g.horizontal.out),
          g.x_plane,
          g.y_plane,
          CountedLine(g.vertical, include_padding),
          CountedLine(g.horizontal, include_padding)};
}

// A thread's strip and the elements of its windows; taps outside the input are `outside`.
template <class T, Square square>
class PlaneStrip {
 public:
  static constexpr int kRows = (kPlaneStrip - 1) * square.stride + square.kernel;

  int column, first, top, left; // of the outputs; of the elements
  std::int64_t plane;

  __device__ PlaneStrip(unsigned place, const T* x, const PlaneWindows& w, float outside) {
    column = static_cast<int>(w.columns.take_last(place));
    first = static_cast<int>(w.strips.take_last(place)) * kPlaneStrip;
    plane = place;
    top = first * square.stride - w.down.before;
    left = column * square.stride - w.across.before;
    const T* const from = x + (plane * w.x_plane + top * w.down.x_step + left);
    KG_UNROLL
    for (int i = 0; i < kRows; ++i) {
      KG_UNROLL
      for (int j = 0; j < square.kernel; ++j) {
        StoredPack<T, 1>& tap = stored_[i * square.kernel + j];
        if (is_below(top + i, w.down.in) && is_below(left + j, w.across.in))
          tap.load(from + i * w.down.x_step + j);
        else
          tap.set({from_float<T>(outside)});
      }
    }
    loaded(stored_);
  }

  __device__ float tap(int i, int j) const {
    return widened(stored_[i * square.kernel + j]).value[0];
  }
  __device__ std::int64_t first_output(const PlaneWindows& w) const {
    return plane * w.y_plane + first * w.down.y_step + column;
  }

 private:
  StoredPack<T, 1> stored_[kRows * square.kernel];
};

// Two integers, not a Square: nvcc 13.0 makes no host code for class-type template arguments.
template <class Reduce, class T, int kKernel, int kStride>
__global__ void __launch_bounds__(kPlaneThreads, kPlaneBlocksPerSm)
    plane_windows(const T* __restrict__ x, T* __restrict__ y, PlaneWindows w) {
  constexpr Square square{kKernel, kStride};
  using Strip = PlaneStrip<T, square>;
  const unsigned index = blockIdx.x * kPlaneThreads + threadIdx.x;
  if (index >= w.threads) return;
  const Strip strip(index, x, w, Reduce::kIdentity);
  float of_row[Strip::kRows];
  KG_UNROLL
  for (int i = 0; i < Strip::kRows; ++i) {
    of_row[i] = Reduce::kIdentity;
    KG_UNROLL
    for (int j = 0; j < square.kernel; ++j) of_row[i] = Reduce::combine(of_row[i], strip.tap(i, j));
  }

  const int counted_across = w.counted_across.taps(strip.left, square.kernel);
  T* const to = y + strip.first_output(w);
  KG_UNROLL
  for (int o = 0; o < kPlaneStrip; ++o) {
    if (strip.first + o >= w.down.out) break;
    float result = Reduce::kIdentity;
    KG_UNROLL
    for (int i = 0; i < square.kernel; ++i)
      result = Reduce::combine(result, of_row[o * square.stride + i]);
    const typename Reduce::Finish finish(
        counted_across * w.counted_down.taps(strip.top + o * square.stride, square.kernel));
    to[o * w.down.y_step] = from_float<T>(finish(result));
  }
}

} // namespace kg::pooling
