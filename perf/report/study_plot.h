// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Plots time against size as plain SVG, in the colours of the report's style sheet.
#pragma once

#include "perf/lab/study/analysis.h"

#include <string>
#include <vector>

namespace kg::report {

// Logarithmic axes. Each curve is a line with its name at the end and its 99 % intervals as bars.
// `curves` belong to one group and must not be empty.
std::string time_plot(const std::string& title, const std::string& axis,
                      const std::vector<study::Curve>& curves);

} // namespace kg::report
