// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/cli/world.h"

#include <string>
#include <vector>

namespace kg::cli {

// Builds the target that makes `file` in this build tree if `file` is missing or older than its
// sources: its output must match the sources that the user sees. Throws Error if that fails, or if
// an installation lacks `file`; the message ends with `otherwise`.
void need(const World& world, const std::filesystem::path& file, const std::string& target,
          const std::string& otherwise = "");

// Replaces this process by a program next to the command, built by the target of the same name,
// with these arguments.
[[noreturn]] void exec_program(const World& world, const std::string& program,
                               const std::vector<std::string>& arguments,
                               const std::string& otherwise = "");

} // namespace kg::cli
