// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade list --shares: how near to their minima the blessed costs of operations are.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

// A line of Markdown for each chosen operation: minimum / cost of its cases, each by the variant
// that the model of the time takes for its fastest, from the lowest to the highest. An operation
// without blessed costs has none. Throws Error on a file that cannot be read.
int list_shares(const Options& options, World& world);

} // namespace kg::cli
