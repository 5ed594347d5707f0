// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --cost --minimum: a line per row, its costs beside the least that the
// operation needs.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

// Sectors per request, different sectors and passes through shared memory beside their minima, and
// the bytes that the row's kernels spill and their split accesses (perf/code/resources/ptx.h) by
// the baselines of resources, the most of all architectures; which of them are above the minimum,
// and how many rows have none.
int profile_minima(const Options& options, World& world);

} // namespace kg::cli
