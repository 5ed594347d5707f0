// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Commands for exploration and calibration, one file each. No gate runs them, so on the host a
// separate program, kernelgrade-lab, has them: they were half of a first build's compile time. Exit
// codes and errors as in commands.h.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

// By name; "report study" and "merge study" are those commands for study files.
const std::map<std::string, Command>& lab_commands();

int ceilings(const Options& options, World& world);
int choose(const Options& options, World& world);
int merge_studies(const Options& options, World& world);
int peers(const Options& options, World& world);
int profile(const Options& options, World& world);
int profile_counts(const Options& options, World& world);  // --counts
int profile_enqueue(const Options& options, World& world); // --enqueue
int profile_sass(const Options& options, World& world);    // --sass
int report_study(const Options& options, World& world);
int selftest(const Options& options, World& world);
int study(const Options& options, World& world);
int try_candidate(const Options& options, World& world);

} // namespace kg::cli
