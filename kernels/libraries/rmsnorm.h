// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// Packed rows. gamma has the type of x and must not be null. rstd receives the scale of each row,
// one f32 per row, or is null.
struct RmsnormProblem {
  const void* x;
  const void* gamma;
  float epsilon;
  void* y;
  std::int64_t rows;
  std::int64_t cols;
  float* rstd = nullptr;
};

using RmsnormVariant = VariantOf<void(Dtype, const RmsnormProblem&, Stream&), Dtype>;
extern const Table<RmsnormVariant> rmsnorm_table;

inline void rmsnorm(std::string_view variant, Dtype dtype, const RmsnormProblem& problem,
                    Stream& stream) {
  const std::string what = join("rmsnorm", {name(dtype)});
  const auto& entry = find(rmsnorm_table, variant, what, dtype);
  require_extents(what, {{"rows", problem.rows}, {"cols", problem.cols}});
  if (problem.rows == 0 || problem.cols == 0) return;
  require_pointers(what, {{"x", problem.x}, {"gamma", problem.gamma}, {"y", problem.y}});
  entry.run(dtype, problem, stream);
}

} // namespace kg::vendor
