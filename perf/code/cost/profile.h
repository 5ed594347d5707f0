// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Costs as text for a terminal.
#pragma once

#include "perf/code/cost/metrics.h"

#include <string>
#include <vector>

namespace kg::cost {

// The metrics of one execution beside their minima, then each kernel's lines, the one with most to
// gain first, with hints.
std::string profile_text(const std::vector<count::Launch>& launches, const Work& work);

// The lines of each kernel alone, over all of its launches, the one with most to gain first.
std::string kernels_text(const std::vector<count::Launch>& launches);

} // namespace kg::cost
