// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The metrics of rows that gate their costs: counted values and the lower time bound. The bound
// uses the blessed registers, so it is the same with and without nvcc.
#pragma once

#include "perf/cli/selection.h"
#include "perf/code/cost/metrics.h"
#include "perf/code/timing_model/gpu.h"
#include "perf/judge/exact_table.h"

#include <string>
#include <vector>

namespace kg::cli {

// The resources used by the gated bound, for GPUs of compute capability 9 and later.
inline constexpr const char* kBoundResources = "sm_90a-cuda13.0";

class CostFigures {
 public:
  // Uses kModelledGpu, or `gpu` as in modelled_gpu. Throws Error if its figures cannot be read.
  CostFigures(const Options& options, const World& world);
  CostFigures(const Options& options, const World& world, const std::string& gpu);

  // For one execution of the row.
  std::vector<cost::Metric> of(const Row& row, const std::vector<count::Launch>& launches) const;

  // The bound of each launch, as text; they add up to the metric bound_ns.
  std::string bound_text(const Row& row, const std::vector<count::Launch>& launches) const;

 private:
  model::Gpu gpu_; // with the executor's number of multiprocessors
  judge::ExactFile resources_;
};

} // namespace kg::cli
