// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model as a row of results. A run is a forward pass or, for training, all of its steps.
#pragma once

#include "perf/judge/result.h"
#include "perf/measure/models/spec.h"

#include <filesystem>
#include <string>

namespace kg::perf {

struct MeasureCall {
  std::string case_id, variant, source;
  int warm_up = 1, runs = 8;
  std::filesystem::path json;  // path of the results
  std::filesystem::path trace; // path of a run's operation times, as `profile --json` writes them
};
void measure_model(const MeasureCall& call, const std::filesystem::path& configs);

} // namespace kg::perf
