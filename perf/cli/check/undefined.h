// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a program's results depend on memory that nothing has written. A kernel may load such
// memory and never use the value, as a look-ahead does at the end of its data.
#pragma once

#include "perf/cli/check/program.h"

#include <filesystem>

namespace kg::program {

// Whether all that fails the run is loads of never-written memory in kernels.
bool failed_by_undefined_loads(const Run& run);

// Runs the program again in `failed`'s order, with several values in that memory. If its results
// are always the same, returns the run that ignores the loads, with the loads as notes. Otherwise
// returns `failed`, with each load on which a result depends as a finding.
Run judge_undefined_loads(Run failed, const Options& options, const std::filesystem::path& tools,
                          const std::filesystem::path& program,
                          const std::filesystem::path& folder);

} // namespace kg::program
