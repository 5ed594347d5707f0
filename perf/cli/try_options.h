// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of `kernelgrade try`.
#pragma once

#include "perf/cli/command_options.h"

namespace kg::cli {

void add_try(CLI::App& app, Words& words);

} // namespace kg::cli
