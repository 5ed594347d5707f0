// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/cli/command_options.h"

namespace kg::cli {

void add_selftest(CLI::App& app, Words& words);

} // namespace kg::cli
