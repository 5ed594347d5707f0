// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of `kernelgrade study`: a subcommand for each study, with its settings.
#pragma once

#include "perf/cli/options.h"

namespace CLI {
class App;
}

namespace kg::cli {

// Adds the command and returns it, so that others' options can be added. `options` must outlive the
// parsing.
CLI::App* add_study(CLI::App& app, Options& options);

} // namespace kg::cli
