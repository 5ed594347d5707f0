// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One experiment of a study, using the code of `run` and `profile`.
#pragma once

#include "perf/cli/selection.h"
#include "perf/lab/study/record.h"

#include <string>
#include <vector>

namespace kg::cli {

// The rows that the operations offer at these points, in their order: each variant's wall-clock
// time (Mode::real), which every backend can measure. Throws UsageError if the build lacks an
// operation, or the operation does not accept a point's shape.
std::vector<Row> experiment_rows(const World& world, const std::vector<study::Point>& points,
                                 const study::Settings& settings);

// Measures the row in new processes and, if its result is correct, traces it in another one.
study::Experiment measure_experiment(const Options& options, World& world, const Row& row,
                                     const study::Settings& settings, const std::string& source);

// Reads the file written by `profile --json`.
study::Traced traced_of(const std::filesystem::path& profile);

} // namespace kg::cli
