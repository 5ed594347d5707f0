// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands, one file each. They return the exit code, or throw UsageError (2) or another Error
// (1).
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"

namespace kg::cli {

int emulate(const Options& options, World& world);
int list(const Options& options, World& world);
int run(const Options& options, World& world);
int run_once(const Options& options, World& world);
int ab(const Options& options, World& world);
int gate(const Options& options, World& world);
int bless(const Options& options, World& world);
int doctor(const Options& options, World& world);
int report(const Options& options, World& world);
int compare(const Options& options, World& world);
int resources(const Options& options, World& world);
int merge(const Options& options, World& world);
#if KERNELGRADE_HISTORY
int history(const Options& options, World& world);
#endif

// compare --ladders.
int compare_ladders(const Options& options, World& world);

// With --cost.
int profile_costs(const Options& options, World& world);
int gate_costs(const Options& options, World& world);
int bless_costs(const Options& options, World& world);
int compare_model(const Options& options, World& world);
int compare_hardware(const Options& options, World& world);
// The counting program, if it was built.
std::filesystem::path counting_program(const World& world);
// Replaces this process by kernelgrade-cost, which has the counters, with the same arguments.
// Returns only by throwing.
int run_counting_program(const std::vector<std::string>& arguments, const World& world);

} // namespace kg::cli
