// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the level of a series of times changes for good: one slow run is noise, a slower kernel
// stays.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kg::history {

// A level that lasts for fewer runs is an outlier.
inline constexpr std::size_t kLeastSegment = 5;
// Changes smaller than this share of the time are of no interest, however sure.
inline constexpr double kLeastChange = 0.02;

struct ChangePoint {
  std::size_t at = 0; // index of the first value of the new level
  double before = 0;  // medians of the levels before and after, in the values' unit
  double after = 0;
};

// The changes of level in `values`, which are positive, in order of time. The partition into
// segments of constant level that minimises the sum of absolute deviations of the logarithms from
// their segments' medians plus a penalty per change (optimal partitioning: Jackson et al., "An
// algorithm for optimal partitioning of data on an interval", 2005; the penalty is the Schwarz
// criterion's for Laplace noise, 3 b ln n with b the scale of the noise, which the differences of
// neighbours give). Absolute deviations, because timings have outliers. Takes time n^2 log n.
// Throws kg::Error on a value that is not positive and finite.
std::vector<ChangePoint> change_points(std::span<const double> values);

} // namespace kg::history
