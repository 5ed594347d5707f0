// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How something grows with its size.
#pragma once

#include <vector>

namespace kg::judge {

// y = c x^exponent, by least squares on logarithms.
struct PowerFit {
  double exponent = 0;
  double reach = 0; // half of its 95 % interval (Student's t)
};
// At least three sizes, not all the same, and all of them and their values above 0; else throws
// Error.
PowerFit fit_power(const std::vector<double>& sizes, const std::vector<double>& values);

} // namespace kg::judge
