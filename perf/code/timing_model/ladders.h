// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimization series ("ladders"): kernels for one problem, each faster than the previous one, with
// published times. Tests whether the bound ranks them as the GPU did. ladders.csv holds their
// costs.
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
  double median_factor = 0; // of measured time / bound
};

// Computes bounds for the GPUs of the list. Throws Error with file and line if the file is missing
// or malformed, or names an unknown GPU.
std::vector<Ladder> load_ladders(const std::filesystem::path& path, const std::vector<Gpu>& gpus);

// A table for each series, and one for all.
std::string text(const std::vector<Ladder>& ladders);

} // namespace kg::model
