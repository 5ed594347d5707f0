// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The figures of rows that gate their costs: those that are counted, and the bound. The bound's
// registers are the blessed ones, so that it is the same with and without nvcc.
#pragma once

#include "perf/cli/selection.h"
#include "perf/code/cost/metrics.h"
#include "perf/code/timing_model/gpu.h"
#include "perf/judge/exact_table.h"

#include <string>
#include <vector>

namespace kg::cli {

// Whose registers the gated bound counts with, and GPUs that are not older.
inline constexpr const char* kBoundResources = "sm_90a-cuda13.0";

class CostFigures {
 public:
  // Of kModelledGpu, or of `gpu` as for modelled_gpu. Throws Error where its figures cannot be
  // read.
  CostFigures(const Options& options, const World& world);
  CostFigures(const Options& options, const World& world, const std::string& gpu);

  // Of one execution of the row.
  std::vector<cost::Metric> of(const Row& row, const std::vector<count::Launch>& launches) const;

  // The bound of each launch, for people; they add up to the metric bound_ns.
  std::string bound_text(const Row& row, const std::vector<count::Launch>& launches) const;

 private:
  model::Gpu gpu_; // as many of its multiprocessors as the executor has
  judge::ExactFile resources_;
};

} // namespace kg::cli
