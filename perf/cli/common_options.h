// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Options shared by several commands.
#pragma once

#include "perf/cli/command_options.h"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace kg::cli {

inline constexpr const char* kShard =
    "measure only part I of N; `merge` and `report` join the parts";

void add_rows(CLI::App& command, Words& words);
void add_row_timeout(CLI::App& command, Words& words);
void add_device(CLI::App& command, Words& words);
void add_measuring(CLI::App& command, Words& words);
void add_shard(CLI::App& command, Words& words, const char* text);
void add_tolerance(CLI::App& command, Words& words);
void add_baselines(CLI::App& command, Words& words);
CLI::Option* add_cost(CLI::App& command, Words& words);
void add_strict(CLI::App& command, Words& words);

} // namespace kg::cli
