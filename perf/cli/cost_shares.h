// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade list --shares: how close operations' blessed costs are to their minima.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

// A line of Markdown per operation: minimum / cost of its cases, lowest to highest, each for the
// variant that the timing model considers fastest. Skips operations without blessed costs. Throws
// Error if a file cannot be read.
int list_shares(const Options& options, World& world);

} // namespace kg::cli
