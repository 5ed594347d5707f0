// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of `kernelgrade check`.
#pragma once

#include "runtime/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::program {

// Wrong usage of the command; nothing has been done.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct Options {
  std::vector<std::filesystem::path> sources;
  std::vector<std::string> compile;   // options of the compiler, with -I and -D
  std::vector<std::string> arguments; // of the program
  // Thread orders, as in KERNELGRADE_THREAD_ORDER: one run each, up to the first finding.
  std::vector<std::string> orders;
  bool fast = false; // without checkers
  bool costs = false;
  bool uninitialised_loads = false; // report them even if no result depends on them
  bool huge = false;   // large grids run partially, and the program's own verdict is ignored
  int timeout_s = 600; // of one run
  std::filesystem::path json, sarif, coverage; // empty: not written
  std::string help;                            // the help text, if requested
};

// Throws UsageError with the reason.
Options parse(const std::vector<std::string>& words);

} // namespace kg::program
