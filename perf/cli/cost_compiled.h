// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --cost --compiled FOLDER: where the counts of what nvcc made differ from
// those of the source as g++ compiles it.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

// Counts every selected row twice and writes a line per kind of access that differs, with the lines
// of the source on either side, then how many rows differ. Throws Error where the folder holds no
// PTX of a kernel.
int profile_compiled(const Options& options, World& world);

} // namespace kg::cli
