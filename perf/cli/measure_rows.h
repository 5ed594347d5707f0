// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measuring the selected rows, in this process or in fresh ones.
#pragma once

#include "perf/cli/selection.h"
#include "perf/cli/world.h"
#include "perf/judge/result.h"

#include <string>
#include <vector>

namespace kg::cli {

// What a run's environment says about the source: --source-id, else what git says, without asking
// the device.
std::string source_of(const Options& options, const World& world);

// Whether a source so called has uncommitted changes.
bool is_dirty(const std::string& source);

// Holds the device's lock while it measures. Throws UsageError when the device is not the one asked
// for, Error when a process fails as a whole; a row that fails is a row of the result.
judge::Results measure_rows(const Options& options, World& world, const Selection& selection);

// Why there is no device for this command, or nothing. Applies --device first.
std::string missing_device(const Options& options, World& world);

} // namespace kg::cli
