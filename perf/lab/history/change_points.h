// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the level of a series of times changes permanently: one slow run is noise, but a slower
// kernel stays slow.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kg::history {

// A level that lasts for fewer runs is an outlier.
inline constexpr std::size_t kLeastSegment = 5;
// Changes smaller than this share of the time are ignored, however certain.
inline constexpr double kLeastChange = 0.02;

struct ChangePoint {
  std::size_t at = 0; // index of the first value of the new level
  double before = 0;  // medians of the levels before and after, in the values' unit
  double after = 0;
};

// The changes of level in `values`, which are positive and in order of time. Minimises, over
// partitions into segments of constant level, the sum of absolute deviations of the logarithms from
// their segments' medians plus a penalty per change (optimal partitioning: Jackson et al., "An
// algorithm for optimal partitioning of data on an interval", 2005). The penalty is the Schwarz
// criterion's for Laplace noise, 3 b ln n; the noise scale b is estimated from differences of
// adjacent values. Absolute deviations, because timings have outliers. Takes O(n^2 log n) time.
// Throws kg::Error if a value is not positive and finite.
std::vector<ChangePoint> change_points(std::span<const double> values);

} // namespace kg::history
