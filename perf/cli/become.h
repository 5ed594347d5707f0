// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/cli/world.h"

#include <string>
#include <vector>

namespace kg::cli {

// Turns this process into a program that lies beside the command, with these arguments. Throws
// Error, whose end is `fix`, where there is none.
[[noreturn]] void become(const World& world, const std::string& program,
                         const std::vector<std::string>& arguments, const std::string& fix);

} // namespace kg::cli
