// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Ladders: kernels for one problem, each better than the one before, whose times somebody else has
// published. Does the bound rank them as the GPU did? perf/code/timing_model/ladders.csv has what
// they cost.
#pragma once

#include "perf/code/timing_model/model.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kg::model {

struct Rung {
  std::string kernel;
  double measured_s = 0; // as published
  Costs costs;
  Modelled bound;
};

struct Ladder {
  std::string name, gpu, shape, source;
  std::vector<Rung> rungs;
  double correlation = 0;   // Spearman's, of bounds and measured times
  double median_factor = 0; // of measured time over bound
};

// With bounds for the GPUs of the list. Throws Error with file and line where the file is missing
// or malformed, or names a GPU that is not in the list.
std::vector<Ladder> load_ladders(const std::filesystem::path& path, const std::vector<Gpu>& gpus);

// A table of each, and one of all.
std::string text(const std::vector<Ladder>& ladders);

} // namespace kg::model
