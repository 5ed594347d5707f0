// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// Packed rows. gamma and beta have the type of x and must not be null. mean and rstd receive the
// row statistics, one f32 per row each, or are both null.
struct LayernormProblem {
  const void* x;
  const void* gamma;
  const void* beta;
  float epsilon;
  void* y;
  std::int64_t rows;
  std::int64_t cols;
  float* mean = nullptr;
  float* rstd = nullptr;
};

// Whether the library must store the row statistics.
enum class Statistics { none, stored };
using LayernormVariant =
    VariantOf<void(Dtype, const LayernormProblem&, Stream&), Dtype, Statistics>;
extern const Table<LayernormVariant> layernorm_table;

inline void layernorm(std::string_view variant, Dtype dtype, const LayernormProblem& problem,
                      Stream& stream) {
  const std::string what = join("layernorm", {name(dtype)});
  const bool stored = problem.mean != nullptr || problem.rstd != nullptr;
  const auto& entry =
      find(layernorm_table, variant, what, dtype, stored ? Statistics::stored : Statistics::none);
  require_extents(what, {{"rows", problem.rows}, {"cols", problem.cols}});
  if (problem.rows == 0 || problem.cols == 0) return;
  require_pointers(
      what, {{"x", problem.x}, {"gamma", problem.gamma}, {"beta", problem.beta}, {"y", problem.y}});
  if (stored) require_pointers(what, {{"mean", problem.mean}, {"rstd", problem.rstd}});
  entry.run(dtype, problem, stream);
}

} // namespace kg::vendor
