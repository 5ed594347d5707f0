// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The windows that hold an element, and which element of a window is its maximum.
#pragma once

#include "pooling/geometry.h"

namespace kg::pooling_backward {

using pooling::Geometry;
using pooling::Line;
using pooling::Taps;

// Windows [first, end) of an axis may hold coordinate `at`: those that begin at it or before, and
// end at it or behind. With dilation some of them step over it.
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

// Which tap of `window` lies at coordinate `at`, one of [0, kernel); -1: none. The window is one of
// windows_over.
__device__ inline int tap_at(const Line& line, int window, int at) {
  const int distance = at + line.before - window * line.stride;
  return distance % line.dilation == 0 ? distance / line.dilation : -1;
}

// What the average of the window at (row, column) divides by.
__device__ inline float divisor(const Geometry& g, int row, int column, bool include_padding) {
  return static_cast<float>(pooling::counted_taps(
      pooling::taps_of(g.vertical, row), pooling::taps_of(g.horizontal, column), include_padding));
}

// Whether `value` takes the maximum's place: a NaN is larger than any number, and of equals the
// first one stays.
__device__ inline bool exceeds(float value, float most) {
  return value > most || (value != value && most == most);
}

} // namespace kg::pooling_backward
