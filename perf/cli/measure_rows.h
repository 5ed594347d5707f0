// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures the selected rows in separate processes, which also use this code.
#pragma once

#include "perf/cli/selection.h"
#include "perf/cli/world.h"
#include "perf/judge/result.h"
#include "perf/measure/device_lock.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kg::cli {

// The source that a run's environment names: --source-id, else git's answer, without accessing the
// device.
std::string source_of(const Options& options, const World& world);

// The environment of a run that uses no device: the source and the date.
std::map<std::string, std::string> counted_environment(const Options& options, const World& world);

// The row with everything that is known without measuring it.
judge::Measured described(const Row& row);

// Waits while another process measures, and reports it.
perf::DeviceLock lock_device(World& world);

// The same for a process that measures rows; nothing if it is interleaved with others, since the
// process that schedules them holds the lock.
std::optional<perf::DeviceLock> lock_to_measure(World& world);

// Holds the device lock while a process measures. A failed row is part of the result.
judge::Results measure_rows(const Options& options, World& world, const Selection& selection);

// Why this command has no device, or "". Applies --device first.
std::string missing_device(const Options& options, World& world);

// If there is no device: reports why and returns the exit code. Otherwise nothing.
std::optional<int> exit_without_device(const Options& options, World& world);

} // namespace kg::cli
