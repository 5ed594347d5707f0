// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// Packed rows. gamma and dgamma have the type of x, rstd is always f32. No pointer may be null.
struct RmsnormBackwardProblem {
  const void* dy;
  const void* x;
  const void* gamma;
  const float* rstd;
  void* dx;
  void* dgamma;
  std::int64_t rows;
  std::int64_t cols;
};

using RmsnormBackwardVariant =
    VariantOf<void(Dtype, const RmsnormBackwardProblem&, Stream&), Dtype>;
extern const Table<RmsnormBackwardVariant> rmsnorm_backward_table;

inline void rmsnorm_backward(std::string_view variant, Dtype dtype,
                             const RmsnormBackwardProblem& problem, Stream& stream) {
  const std::string what = join("rmsnorm_backward", {name(dtype)});
  const auto& entry = find(rmsnorm_backward_table, variant, what, dtype);
  require_extents(what, {{"rows", problem.rows}, {"cols", problem.cols}});
  if (problem.rows == 0 || problem.cols == 0) return;
  require_pointers(what, {{"dy", problem.dy},
                          {"x", problem.x},
                          {"gamma", problem.gamma},
                          {"rstd", problem.rstd},
                          {"dx", problem.dx},
                          {"dgamma", problem.dgamma}});
  entry.run(dtype, problem, stream);
}

} // namespace kg::vendor
