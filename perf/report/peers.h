// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares frameworks, libraries and, on a GPU, our kernels: the time of each case, the fastest at
// each size, and failures.
#pragma once

#include "perf/judge/result.h"
#include "perf/report/sections.h"

#include <string>
#include <vector>

namespace kg::report {

// Wall-clock times (mode real) of the cases assigned to a framework. A failed row has no time,
// enters no mean, and counts as lost. Empty if there are no framework rows.
std::vector<Section> peer_sections(const judge::Results& run);

// The same as a page with a plot. Empty if there are no sections.
std::string peers_page(const judge::Results& run);

} // namespace kg::report
