// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the main() of each program that is this command does.
#pragma once

#include "perf/cli/world.h"

#include <filesystem>
#include <functional>
#include <vector>

namespace kg::cli {

// The world around a program that was compiled in the checkout `built_from`; it measures nothing
// yet.
World world_of(std::vector<perf::Operation> operations, const std::filesystem::path& built_from);

// The exit code; whatever keeps the world from being made goes to standard error under the
// program's name.
int run_program(const char* program, int argc, char** argv, const std::function<World()>& world);

} // namespace kg::cli
