// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands that run complete programs.
#pragma once

#include "perf/cli/command_options.h"

#include <CLI/CLI.hpp>

namespace kg::cli {

void add_emulate(CLI::App& app, Words& words);

// Their options are defined by the programs that run them (perf/cli/check/options.cpp,
// perf/measure/models/command.cpp).
void add_check(CLI::App& app);
void add_model(CLI::App& app);

} // namespace kg::cli
