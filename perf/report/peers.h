// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Frameworks, libraries and, on a GPU, our kernels beside one another: what each case takes, who
// wins at which size, and what failed.
#pragma once

#include "perf/judge/result.h"
#include "perf/report/sections.h"

#include <string>
#include <vector>

namespace kg::report {

// Of what a caller waits (mode real), in the cases that a framework was to solve. A row that failed
// has no time, is in no mean, and counts as lost. None where no framework is among the rows.
std::vector<Section> peer_sections(const judge::Results& run);

// The same as a page, with a picture; empty where there are none.
std::string peers_page(const judge::Results& run);

} // namespace kg::report
