// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the average of a window divides by, and which element of a window is its maximum.
#pragma once

#include "pooling/geometry.h"

namespace kg::pooling_backward {

using pooling::Geometry;
using pooling::Line;
using pooling::Taps;
using window::tap_at;
using window::Windows;
using window::windows_over;

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
