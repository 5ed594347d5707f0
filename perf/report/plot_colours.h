// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Colours of curves and bars, in order of use: names from the page's style sheet.
#pragma once

#include <array>

namespace kg::report {

inline constexpr std::array kPlotColours = {"link", "excellent", "fair", "critical",
                                            "none", "good",      "poor"};

} // namespace kg::report
