// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model as a row of results: a run is a forward pass, or where it is trained the training steps.
#pragma once

#include "perf/judge/result.h"
#include "perf/measure/models/spec.h"

#include <filesystem>
#include <string>

namespace kg::perf {

struct MeasureCall {
  std::string case_id, variant, source;
  int warm_up = 1, runs = 8;
  std::filesystem::path json;  // of results
  std::filesystem::path trace; // what a run's operations take, as `profile --json` has it
};
void measure_model(const MeasureCall& call, const std::filesystem::path& configs);

} // namespace kg::perf
