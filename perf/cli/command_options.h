// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands and their options.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/row_options.h"

#include <string>

namespace CLI {
class App;
}

namespace kg::cli {

// The command line during parsing.
struct Words {
  Options options;
  FilterWords filter;
  std::string batch;
  std::string status;
  std::string shard;
  int processes = 0;
  std::string confirm; // auto or never; empty: as KERNELGRADE_CONFIRM says
};

void add_commands(CLI::App& app, Words& words);

} // namespace kg::cli
