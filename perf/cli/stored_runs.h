// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "perf/judge/result.h"

#include <filesystem>
#include <vector>

namespace kg::cli {

// A key of a run's environment that may differ between joined runs.
inline constexpr const char* kDate = "date_utc";

// Joins the files of `run --json` and `gate --json`, complete or cut off (incremental_results.h),
// or of other tools (perf/lab/import), into one run. A row that failed in one of them has failed;
// its times elsewhere are ignored. Throws Error if they come from different machines or builds, or
// their shards are incomplete (shard.h); dates may differ, and the latest is kept.
judge::Results load_runs(const std::vector<std::filesystem::path>& files);

// The same for runs in memory.
judge::Results join_runs(std::vector<judge::Results> runs);

} // namespace kg::cli
