// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade profile --cost --minimum: a line per row that compares its costs with the operation's
// theoretical minimum.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

// Compares sectors per request, unique sectors and shared-memory wavefronts with their minima. Adds
// the kernels' spilled bytes and split accesses (perf/code/resources/ptx.h) from the resource
// baselines, as maxima over all architectures. Marks costs above the minimum, and counts the rows
// without any.
int profile_minima(const Options& options, World& world);

} // namespace kg::cli
