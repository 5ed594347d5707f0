// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/judge/result.h"

#include <filesystem>
#include <vector>

namespace kg::cli {

// Of a run's environment: two runs may differ in it.
inline constexpr const char* kDate = "date_utc";

// The files of `run --json` and `gate --json`, whole or cut off (growing_run.h), or of other tools
// (perf/lab/import), as one run. A row
// that failed in any of them has failed, and its times elsewhere count for nothing. Throws Error
// when they are not of one machine and build, or hold shards that make no whole (shard.h); the
// dates may differ, and the latest stays.
judge::Results load_runs(const std::vector<std::filesystem::path>& files);

// The same of runs at hand.
judge::Results join_runs(std::vector<judge::Results> runs);

} // namespace kg::cli
