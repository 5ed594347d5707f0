// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares this build with a reference, for `ab` and `gate`.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"
#include "perf/measure/ab/compare_builds.h"
#include "perf/measure/ab/reference_build.h"

#include <functional>
#include <memory>
#include <vector>

namespace kg::cli {

// Where and how references are built.
ab::BuildPlan build_plan(const Options& options, World& world);

// The seed of the measuring order: --shuffle, or 1.
unsigned seed_of(const Options& options);

// How compared processes share the device (ab::RoundOptions::exclusive): on the host, whose cores
// and clock are shared with others, they are interleaved. A GPU's clock drifts in seconds, and two
// concurrent contexts cost switches.
std::function<std::shared_ptr<void>()> turns(World& world);

std::vector<ab::ComparedRow> compare(const Options& options, World& world,
                                     const ab::ReferenceBuild& reference,
                                     const std::vector<ab::Candidate>& rows);

} // namespace kg::cli
