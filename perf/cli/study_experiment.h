// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One experiment of a study by the machinery of `run` and `profile`.
#pragma once

#include "perf/cli/selection.h"
#include "perf/lab/study/record.h"

#include <string>
#include <vector>

namespace kg::cli {

// What the operations offer at these points, in the order of the points: each variant as a caller
// waits for it (Mode::real), which every backend can time. Throws UsageError where the build lacks
// an operation, or that does not take a point's shape.
std::vector<Row> experiment_rows(const World& world, const std::vector<study::Point>& points,
                                 const study::Settings& settings);

// Measures the row in fresh processes, and where it is right traces it in another.
study::Experiment measure_experiment(const Options& options, World& world, const Row& row,
                                     const study::Settings& settings, const std::string& source);

// Of the file that `profile --json` wrote.
study::Traced traced_of(const std::filesystem::path& profile);

} // namespace kg::cli
