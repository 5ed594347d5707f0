// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts rows, and models their launches' time on a GPU that is not present.
#pragma once

#include "perf/cli/selection.h"
#include "perf/code/cost/modelled.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kg::cli {

inline constexpr const char* kModelledGpu = "nvidia-h200";

// The selected rows with our own kernels: vendors' kernels are not compiled here.
std::vector<const Row*> countable(const World& world, const Selection& selection);

// One execution, without the launches that fill its data. Throws Error if the result is wrong.
std::vector<count::Launch> count_launches(const Row& row, World& world);

// The build's folder of compiled kernels.
std::filesystem::path compiled_kernels(const World& world);
// The same, or the folder given by --compiled. Throws UsageError if that is empty; the build's own
// folder is empty if it had no nvcc.
std::filesystem::path compiled_kernels(const Options& options, const World& world);

// A GPU of perf/code/timing_model/gpus.json; empty: kModelledGpu. Throws Error for others.
model::Gpu modelled_gpu(const World& world, const std::string& name);

class CostModel {
 public:
  // `gpu` as in modelled_gpu.
  CostModel(const World& world, const std::string& gpu);

  // The sum over all launches; nothing if one does not fit the GPU.
  std::optional<double> seconds(const Row& row, const std::vector<count::Launch>& launches) const;

 private:
  cost::TakenByKernel taken(const Row& row, const std::vector<count::Launch>& launches) const;

  model::Gpu gpu_;
  std::filesystem::path compiled_;
};

} // namespace kg::cli
