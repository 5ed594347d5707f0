// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The figures of rows that gate their costs: those that are counted, and the bound. The bound's
// registers are the blessed ones, so that it is the same with and without nvcc.
#pragma once

#include "perf/cli/selection.h"
#include "perf/cost/metrics.h"
#include "perf/judge/exact_table.h"
#include "perf/model/gpu.h"

#include <string>
#include <vector>

namespace kg::cli {

// Whose registers the gated bound counts with, and GPUs that are not older.
inline constexpr const char* kBoundResources = "sm_90a-cuda13.0";

class CostFigures {
 public:
  // Throws Error where the GPU's figures cannot be read.
  CostFigures(const Options& options, const World& world);

  // Of one execution of the row.
  std::vector<cost::Metric> of(const Row& row, const std::vector<count::Launch>& launches) const;

 private:
  model::Gpu gpu_;
  judge::ExactFile resources_;
};

// The bound on every GPU of perf/model/gpus.json, for people.
class DeviceBounds {
 public:
  DeviceBounds(const Options& options, const World& world);

  // A table with a line per GPU, of one execution of the row.
  std::string text(const Row& row, const std::vector<count::Launch>& launches) const;

 private:
  std::vector<model::Gpu> gpus_;
  judge::ExactFile resources_, older_; // of GPUs from 9.0 on, and before
};

} // namespace kg::cli
