// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// Packed rows: z = x + residual, y = rmsnorm(z). gamma has x's type. No pointer may be null.
struct ResidualRmsnormProblem {
  const void* x;
  const void* residual;
  const void* gamma;
  float epsilon;
  void* z;
  void* y;
  std::int64_t rows;
  std::int64_t cols;
};

using ResidualRmsnormVariant =
    VariantOf<void(Dtype, const ResidualRmsnormProblem&, Stream&), Dtype>;
extern const Table<ResidualRmsnormVariant> residual_rmsnorm_table;

inline void residual_rmsnorm(std::string_view variant, Dtype dtype,
                             const ResidualRmsnormProblem& problem, Stream& stream) {
  const std::string what = join("residual_rmsnorm", {name(dtype)});
  const auto& entry = find(residual_rmsnorm_table, variant, what, dtype);
  require_extents(what, {{"rows", problem.rows}, {"cols", problem.cols}});
  if (problem.rows == 0 || problem.cols == 0) return;
  require_pointers(what, {{"x", problem.x},
                          {"residual", problem.residual},
                          {"gamma", problem.gamma},
                          {"z", problem.z},
                          {"y", problem.y}});
  entry.run(dtype, problem, stream);
}

} // namespace kg::vendor
