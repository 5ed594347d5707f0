// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Time against size as plain SVG, in the colours of the report's style sheet.
#pragma once

#include "perf/lab/study/analysis.h"

#include <string>
#include <vector>

namespace kg::report {

// Both axes logarithmic; a line per curve, its 99 % intervals as bars, its name at its end.
// `curves` are of one group; there is at least one.
std::string time_plot(const std::string& title, const std::string& axis,
                      const std::vector<study::Curve>& curves);

} // namespace kg::report
