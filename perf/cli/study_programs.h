// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study's experiments that other programs make: `kernelgrade model measure` for a complete model,
// `kernelgrade peers` for a framework.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/selection.h"
#include "perf/cli/world.h"
#include "perf/lab/study/record.h"

#include <string>
#include <vector>

namespace kg::cli {

// Our row for a point's model.
Row model_row(const study::Point& point);

// The same case in the frameworks of --peer.
std::vector<Row> peer_rows(const Row& row, const study::Settings& settings);

bool is_of_another_program(const Row& row, const study::Settings& settings);

study::Experiment measure_by_program(const Options& options, const World& world, const Row& row,
                                     const study::Settings& settings, const std::string& source);

} // namespace kg::cli
