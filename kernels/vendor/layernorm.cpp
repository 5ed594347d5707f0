// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/layernorm.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void layernorm(std::string_view variant, Dtype dtype, const LayernormProblem& problem,
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
