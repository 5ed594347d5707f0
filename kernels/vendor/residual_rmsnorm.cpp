// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/residual_rmsnorm.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void residual_rmsnorm(std::string_view variant, Dtype dtype, const ResidualRmsnormProblem& problem,
                      Stream& stream) {
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
