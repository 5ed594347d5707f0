// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Values beside one another as plain SVG, in the colours of the report's style sheet.
#pragma once

#include <string>
#include <vector>

namespace kg::report {

struct Bar {
  std::string name;
  double value = 0; // 0: there is none, and its words say why
  std::string words;
};
struct BarGroup {
  std::string title;
  std::vector<Bar> bars;
};

// A line for each bar, a heading for each group; lengths are logarithms, from a third of the least
// value of all.
std::string bar_plot(const std::string& title, const std::vector<BarGroup>& groups);

} // namespace kg::report
