// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Running another program and waiting for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kg::perf {

struct Finished {
  int exit_code = 0;  // 128 + number where a signal ended it
  std::string output; // what it wrote to standard output, if that was captured
};

// Where the program's standard output goes. `capture` also discards its standard error; `to_stderr`
// leaves a caller's own output clean.
enum class Output { capture, to_stderr };

// command[0] is looked up in PATH unless it holds a '/'. Throws Error when it cannot be started.
Finished run_process(const std::vector<std::string>& command, Output output);

// The program that is running.
std::filesystem::path this_executable();

} // namespace kg::perf
