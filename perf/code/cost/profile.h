// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats costs for the terminal.
#pragma once

#include "perf/code/cost/metrics.h"

#include <string>
#include <vector>

namespace kg::cost {

// The metrics of one execution with their minima. Then each kernel's lines with hints, the largest
// possible gain first.
std::string profile_text(const std::vector<count::Launch>& launches, const Work& work);

// Only the lines of each kernel, over all its launches, the largest possible gain first.
std::string kernels_text(const std::vector<count::Launch>& launches);

} // namespace kg::cost
