// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Device side of window.h: the taps of a window inside the input, the windows that cover an
// element, and the coordinates of a thread's element.
#pragma once

#include "primitives/window.h"
#include "runtime/device_code.h"

#include <cstdint>
#include <limits>
#include <string>

namespace kg::window {

// One axis of x and y. Steps are elements between neighbouring coordinates.
struct Line {
  int in, out;
  int kernel, stride, dilation;
  int before, after; // padding
  std::int64_t x_step, y_step;
};

inline Line line_of(const Axis& axis, std::int64_t in, std::int64_t out, std::int64_t x_step,
                    std::int64_t y_step) {
  return {static_cast<int>(in),
          static_cast<int>(out),
          static_cast<int>(axis.kernel),
          static_cast<int>(axis.stride),
          static_cast<int>(axis.dilation),
          static_cast<int>(axis.pad_before),
          static_cast<int>(axis.pad_after),
          x_step,
          y_step};
}

// Taps [first, end) of a window lie in the input, the first of them at coordinate `start` +
// first * dilation; `padded_end` is the end of those in the input or the declared padding.
struct Taps {
  int start, first, end, padded_end;
};

__host__ __device__ inline Taps taps_of(const Line& line, int window) {
  const int start = window * line.stride - line.before;
  const auto taps_below = [&](int limit) { // from `start` on
    const int taps = limit > start ? (limit - start - 1) / line.dilation + 1 : 0;
    return taps < line.kernel ? taps : line.kernel;
  };
  const int first = taps_below(0);
  return {start, first, taps_below(line.in), taps_below(line.in + line.after)};
}

// Windows [first, end) of an axis whose extent includes coordinate `at`. With dilation some of them
// have no tap there.
struct Windows {
  int first, end;
};

__device__ inline Windows windows_over(const Line& line, int at) {
  const int reach = at + line.before;                              // of a window that begins there
  const int uncovered = reach - (line.kernel - 1) * line.dilation; // of one that ends there
  const int first = uncovered > 0 ? (uncovered - 1) / line.stride + 1 : 0;
  const int end = reach / line.stride + 1;
  return {first, end < line.out ? end : line.out};
}

// The tap of `window`, one of windows_over(), at coordinate `at`: in [0, kernel), or -1 if none.
__device__ inline int tap_at(const Line& line, int window, int at) {
  const int distance = at + line.before - window * line.stride;
  return distance % line.dilation == 0 ? distance / line.dilation : -1;
}

// Coordinates of a pack in memory order: innermost elements, columns, rows, planes.
struct Place {
  std::int64_t inner; // the pack's first element
  int column, row;
  std::int64_t outer;
};

__device__ inline Place place_of(unsigned index, unsigned packs, int pack, int columns, int rows) {
  const unsigned column = index / packs;
  const unsigned row = column / static_cast<unsigned>(columns);
  const unsigned outer = row / static_cast<unsigned>(rows);
  return {static_cast<std::int64_t>(index % packs) * pack,
          static_cast<int>(column % static_cast<unsigned>(columns)),
          static_cast<int>(row % static_cast<unsigned>(rows)), outer};
}

// The number of threads as 32 bits, since 64-bit divisions would cost as much as a window. Throws
// Error, with a message that starts with `what`, if there are more.
inline unsigned count_threads(const std::string& what, std::int64_t threads) {
  constexpr std::int64_t kMost = std::numeric_limits<unsigned>::max() - 1024; // for whole blocks
  require(threads <= kMost, what + " would need " + std::to_string(threads) +
                                " threads, and counts to " + std::to_string(kMost) +
                                "; split the batch");
  return static_cast<unsigned>(threads);
}

} // namespace kg::window
