// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// This build against a reference, as `ab` and `gate` compare them.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"
#include "perf/measure/ab/compare_builds.h"
#include "perf/measure/ab/reference_build.h"

#include <functional>
#include <memory>
#include <vector>

namespace kg::cli {

// Where references are built, and how.
ab::BuildPlan build_plan(const Options& options, World& world);

// Of the orders: --shuffle, or 1.
unsigned seed_of(const Options& options);

// How processes that are compared share the device (ab::RoundOptions::exclusive): on the host,
// whose cores and clock others use, too, they take turns. A GPU's clock drifts in seconds, and two
// contexts at a time cost switches.
std::function<std::shared_ptr<void>()> turns(World& world);

std::vector<ab::ComparedRow> compare(const Options& options, World& world,
                                     const ab::ReferenceBuild& reference,
                                     const std::vector<ab::Candidate>& rows);

} // namespace kg::cli
