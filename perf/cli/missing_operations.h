// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

#include <string>
#include <vector>

namespace kg::cli {

// If the command line names existing operations that this build tree leaves out (KERNELGRADE_OPS):
// builds them and replaces this process by the new program with the same arguments. Otherwise does
// nothing.
void build_missing_operations(const Options& options, const World& world,
                              const std::vector<std::string>& arguments);

} // namespace kg::cli
