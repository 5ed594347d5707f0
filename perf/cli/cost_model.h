// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting rows, and asking the model what their launches would take on a GPU that is not there.
#pragma once

#include "perf/cli/selection.h"
#include "perf/code/cost/modelled.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kg::cli {

inline constexpr const char* kModelledGpu = "nvidia-h200";

// The selected rows of kernels of ours: vendors' are compiled by others.
std::vector<const Row*> countable(const World& world, const Selection& selection);

// One execution, without what fills its data. Throws Error where the result is wrong.
std::vector<count::Launch> count_launches(const Row& row, World& world);

// The build's folder of compiled kernels.
std::filesystem::path compiled_kernels(const World& world);
// The same, or the one that --compiled names. Throws UsageError where that holds none; the build's
// own holds none where there was no nvcc.
std::filesystem::path compiled_kernels(const Options& options, const World& world);

// One of perf/code/timing_model/gpus.json; empty: kModelledGpu. Throws Error for one that it lacks.
model::Gpu modelled_gpu(const World& world, const std::string& name);

class CostModel {
 public:
  // `gpu` as for modelled_gpu.
  CostModel(const World& world, const std::string& gpu);

  // Of all launches, one after the other; nothing where one does not fit the GPU.
  std::optional<double> seconds(const Row& row, const std::vector<count::Launch>& launches) const;

 private:
  cost::TakenByKernel taken(const Row& row, const std::vector<count::Launch>& launches) const;

  model::Gpu gpu_;
  std::filesystem::path compiled_;
};

} // namespace kg::cli
