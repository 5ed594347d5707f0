// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/cli/world.h"

#include <string>
#include <vector>

namespace kg::cli {

// Builds a target of this build tree, which makes `file`, if it is missing or older than its
// sources: what it says must be of the sources that the user sees. Throws Error where that fails,
// and where the file is missing from an installation; the error ends with `otherwise`.
void need(const World& world, const std::filesystem::path& file, const std::string& target,
          const std::string& otherwise = "");

// Turns this process into a program that lies beside the command, with these arguments, and that is
// a target of the same name.
[[noreturn]] void become(const World& world, const std::string& program,
                         const std::vector<std::string>& arguments,
                         const std::string& otherwise = "");

} // namespace kg::cli
