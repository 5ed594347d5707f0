// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/rmsnorm.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void rmsnorm(std::string_view variant, Dtype dtype, const RmsnormProblem& problem, Stream& stream) {
  const std::string what = join("rmsnorm", {name(dtype)});
  const auto& entry = find(rmsnorm_table, variant, what, dtype);
  require_extents(what, {{"rows", problem.rows}, {"cols", problem.cols}});
  if (problem.rows == 0 || problem.cols == 0) return;
  require_pointers(what, {{"x", problem.x}, {"gamma", problem.gamma}, {"y", problem.y}});
  entry.run(dtype, problem, stream);
}

} // namespace kg::vendor
