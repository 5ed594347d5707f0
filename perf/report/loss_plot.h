// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses of training, step by step, by several implementations over each other, as plain SVG.
#pragma once

#include <string>
#include <vector>

namespace kg::report {

struct LossCurve {
  std::string name;
  std::vector<double> losses; // before each step and behind the last; one that is not finite: a gap
};

// Linear axes. The first curve is the broadest and the last the finest, so that equal ones show
// within one another. There is a curve with a finite loss.
std::string loss_plot(const std::string& title, const std::vector<LossCurve>& curves);

} // namespace kg::report
