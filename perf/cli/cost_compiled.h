// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --cost --compiled FOLDER: differences between the counts of nvcc's code and
// of the source as compiled by g++.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

// Counts every selected row twice. Writes a line for each kind of access that differs, with both
// sides' source lines, and then how many rows differ. Throws Error if the folder has no PTX of a
// kernel.
int profile_compiled(const Options& options, World& world);

} // namespace kg::cli
