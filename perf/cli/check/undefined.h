// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a program's results depend on values that nothing has written. A kernel may load such a
// value and never use it, as a look-ahead does at the end of its data.
#pragma once

#include "perf/cli/check/program.h"

#include <filesystem>

namespace kg::program {

// RunMode::fill of a first run: all ones, as new memory has.
inline constexpr const char* kFirstFill = "255";

// For a run with kFirstFill: runs the program again in its order, with several values in the place
// of the undefined ones. Adds to its findings the loads on which a result depends, or that depend
// on chance, and the other loads as notes.
void judge_undefined_loads(Run& first, const Options& options, const std::filesystem::path& tools,
                           const std::filesystem::path& program,
                           const std::filesystem::path& folder);

} // namespace kg::program
