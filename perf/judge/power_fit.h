// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fits a power law to measurements.
#pragma once

#include <vector>

namespace kg::judge {

// y = c x^exponent, by least squares on the logarithms.
struct PowerFit {
  double exponent = 0;
  double reach = 0; // half width of its 95 % interval (Student's t)
};
// Throws Error unless there are at least three sizes, not all equal, and all sizes and values are
// positive.
PowerFit fit_power(const std::vector<double>& sizes, const std::vector<double>& values);

} // namespace kg::judge
