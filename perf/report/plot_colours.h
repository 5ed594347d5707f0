// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The colours that tell curves and bars apart, in the order of their use: names of the page's
// style.
#pragma once

#include <array>

namespace kg::report {

inline constexpr std::array kPlotColours = {"link", "excellent", "fair", "critical",
                                            "none", "good",      "poor"};

} // namespace kg::report
