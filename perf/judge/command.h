// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How messages name the programs that they tell the reader to run, so that a line works when it is
// pasted.
#pragma once

#include <filesystem>
#include <string>

namespace kg::judge {

struct Commands {
  std::string kernelgrade = "kernelgrade";
  std::string ctest = "ctest"; // with --test-dir where the build tree is known
};

// "kernelgrade " and the arguments, as set_commands() said; without it by the bare names.
std::string command(const std::string& arguments);
std::string ctest_command(const std::string& arguments);

// By main(), before any other thread runs.
void set_commands(Commands commands);

// For a reader in `folder`. The bare name where `path`, the variable PATH, leads to this
// `executable`; else its path, relative where the whole build tree lies below `folder`, so that a
// line printed by CTest, which runs within that tree, has an absolute one. Of kernelgrade-lab and
// its kin it is the `kernelgrade` beside them. `build` is empty where the program is installed.
Commands commands_for(const std::filesystem::path& folder, const std::filesystem::path& executable,
                      const std::filesystem::path& build, const std::string& path);

} // namespace kg::judge
