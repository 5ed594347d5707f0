// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The divisor of a window's average, the comparison that selects its maximum, and the windows over
// an element, found without a division.
#pragma once

#include "ops/pooling/geometry.h"
#include "primitives/divisor.h"

namespace kg::pooling_backward {

using pooling::Geometry;
using pooling::Line;
using pooling::Taps;
using window::tap_at;
using window::Windows;
using window::windows_over;

// The divisor of the average of the window at (row, column).
__device__ inline float divisor(const Geometry& g, int row, int column, bool include_padding) {
  return static_cast<float>(pooling::counted_taps(
      pooling::taps_of(g.vertical, row), pooling::taps_of(g.horizontal, column), include_padding));
}

// One axis as the gather kernels traverse it; results are as in window_taps.h.
struct Gathered {
  int windows, kernel, stride, dilation, before;
  NarrowDivisor by_stride, by_dilation;
  int begin, end; // coordinates of the taps that an average counts
  std::int64_t y_step;

  Gathered(const Line& line, bool include_padding)
      : windows(line.out), kernel(line.kernel), stride(line.stride), dilation(line.dilation),
        before(line.before), by_stride(line.stride), by_dilation(line.dilation),
        begin(include_padding ? -line.before : 0),
        end(line.in + (include_padding ? line.after : 0)), y_step(line.y_step) {}

  __device__ Windows windows_over(int at) const {
    const int reach = at + before;
    const int uncovered = reach - (kernel - 1) * dilation;
    const int first = uncovered > 0 ? over(by_stride, uncovered - 1) + 1 : 0;
    return {first, min(over(by_stride, reach) + 1, windows)};
  }
  __device__ int tap_at(int window, int at) const {
    const int distance = at + before - window * stride;
    const int tap = over(by_dilation, distance);
    return tap * dilation == distance ? tap : -1;
  }
  __device__ int counted(int window) const {
    const int start = window * stride - before;
    const auto taps_below = [&](int limit) {
      return limit > start ? min(over(by_dilation, limit - start - 1) + 1, kernel) : 0;
    };
    return taps_below(end) - taps_below(begin);
  }

 private:
  __device__ static int over(const NarrowDivisor& divisor, int dividend) {
    return static_cast<int>(divisor.quotient(static_cast<unsigned>(dividend)));
  }
};

// Whether `value` replaces the maximum `most`: a NaN is larger than any number, and of equals the
// first stays.
__device__ inline bool exceeds(float value, float most) {
  return value > most || (value != value && most == most);
}

} // namespace kg::pooling_backward
