// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Training losses per step of several implementations in one plot, as plain SVG.
#pragma once

#include <string>
#include <vector>

namespace kg::report {

struct LossCurve {
  std::string name;
  std::vector<double> losses; // before each step and after the last; non-finite values are gaps
};

// Linear axes. Line widths decrease from the first curve to the last, so that coinciding curves
// stay visible. At least one curve must have a finite loss.
std::string loss_plot(const std::string& title, const std::vector<LossCurve>& curves);

} // namespace kg::report
