// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bar charts as plain SVG, in the colours of the report's style sheet.
#pragma once

#include <string>
#include <vector>

namespace kg::report {

struct Bar {
  std::string name;
  double value = 0; // 0: unknown; `words` says why
  std::string words;
};
struct BarGroup {
  std::string title;
  std::vector<Bar> bars;
};

// One line per bar and one heading per group. Bar lengths are logarithmic and start at a third of
// the smallest value.
std::string bar_plot(const std::string& title, const std::vector<BarGroup>& groups);

} // namespace kg::report
