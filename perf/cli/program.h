// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The main() of all programs with this command.
#pragma once

#include "perf/cli/world.h"

#include <filesystem>
#include <functional>
#include <vector>

namespace kg::cli {

// The World of a program compiled in the checkout `built_from`; it cannot measure yet.
World world_of(std::vector<perf::Operation> operations, const std::filesystem::path& built_from);

// Returns the exit code. If `world` throws, the message goes to standard error after the program's
// name.
int run_program(const char* program, int argc, char** argv, const std::function<World()>& world);

} // namespace kg::cli
