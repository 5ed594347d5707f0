// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A study's experiments with whole models, each by another program: `kernelgrade model measure`, or
// `kernelgrade peers` for a framework.
#pragma once

#include "perf/cli/options.h"
#include "perf/cli/selection.h"
#include "perf/cli/world.h"
#include "perf/study/record.h"

#include <string>
#include <vector>

namespace kg::cli {

// Of the model of a point: ours, and the frameworks of --peer.
std::vector<Row> model_rows(const study::Point& point, const study::Settings& settings);

study::Experiment measure_model(const Options& options, const World& world, const Row& row,
                                const study::Settings& settings, const std::string& source);

} // namespace kg::cli
