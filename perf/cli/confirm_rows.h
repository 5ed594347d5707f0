// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate's second stage: measures suspicious rows side by side with the commits that blessed
// them.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/world.h"
#include "perf/judge/baseline.h"
#include "perf/judge/suspects.h"

#include <map>
#include <string>
#include <vector>

namespace kg::cli {

// Compares each row with the commit that last changed it in its baseline file, with one comparison
// per commit. A row that cannot be confirmed is in the result with the reason.
judge::Confirmations confirm_rows(const Options& options, World& world,
                                  const std::map<std::string, judge::TimingFile>& baselines,
                                  const std::vector<judge::RowKey>& rows);

} // namespace kg::cli
