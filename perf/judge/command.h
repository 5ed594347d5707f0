// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How messages name the programs that the reader should run, so that a pasted line works.
#pragma once

#include "perf/judge/row.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace kg::judge {

struct Commands {
  std::string kernelgrade = "kernelgrade";
  std::string ctest = "ctest"; // with --test-dir if the build tree is known
};

// "kernelgrade " and the arguments, with the name that set_commands() set.
std::string command(const std::string& arguments);
std::string ctest_command(const std::string& arguments);

// kernelgrade <command> --op ... --dtype ... --case ... --variant ... --mode ...
std::string row_command(std::string_view command, std::string_view op, std::string_view dtype,
                        const RowKey& key);

// Called by main() before any other thread runs.
void set_commands(Commands commands);

// The commands for a reader in `folder`. The bare name if `path` (the variable PATH) leads to this
// `executable`. Otherwise its path, relative if the whole build tree lies below `folder`; CTest
// runs tests inside the build tree, so lines that it prints have an absolute path. For
// kernelgrade-lab and its siblings it is the `kernelgrade` in the same folder. `build` is empty if
// installed.
Commands commands_for(const std::filesystem::path& folder, const std::filesystem::path& executable,
                      const std::filesystem::path& build, const std::string& path);

} // namespace kg::judge
