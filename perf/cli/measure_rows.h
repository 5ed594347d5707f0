// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measuring the selected rows: in processes of their own, which come here again.
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

// What a run's environment says about the source: --source-id, else what git says, without asking
// the device.
std::string source_of(const Options& options, const World& world);

// What there is to say of a run that asks no device: the source, and when.
std::map<std::string, std::string> counted_environment(const Options& options, const World& world);

// The row with all that is known without measuring it.
judge::Measured described(const Row& row);

// Waits for another process that is measuring, and says so.
perf::DeviceLock lock_device(World& world);

// The same for a process that measures rows; nothing where it takes turns with others, since
// whoever gives the turns holds the lock.
std::optional<perf::DeviceLock> lock_to_measure(World& world);

// Holds the device's lock while a process measures. A row that fails is a row of the result.
judge::Results measure_rows(const Options& options, World& world, const Selection& selection);

// Why there is no device for this command, or nothing. Applies --device first.
std::string missing_device(const Options& options, World& world);

// The exit code of a command that has no device, once it has said why; nothing where there is one.
std::optional<int> exit_without_device(const Options& options, World& world);

} // namespace kg::cli
