// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/layernorm_backward.h"

#include "libraries/dispatch.h"

namespace kg::vendor {

Dtype layernorm_backward_sums(std::string_view variant, Dtype dtype) {
  return find(layernorm_backward_table, variant, join("layernorm_backward", {name(dtype)}), dtype)
      .sums(dtype);
}

void layernorm_backward(std::string_view variant, Dtype dtype,
                        const LayernormBackwardProblem& problem, Stream& stream) {
  const std::string what = join("layernorm_backward", {name(dtype)});
  const auto& entry = find(layernorm_backward_table, variant, what, dtype);
  require_extents(what, {{"rows", problem.rows}, {"cols", problem.cols}});
  if (problem.rows == 0 || problem.cols == 0) return;
  require_pointers(what, {{"dy", problem.dy},
                          {"x", problem.x},
                          {"gamma", problem.gamma},
                          {"mean", problem.mean},
                          {"variance", problem.variance},
                          {"rstd", problem.rstd},
                          {"dx", problem.dx},
                          {"dgamma", problem.dgamma},
                          {"dbeta", problem.dbeta}});
  entry.run(dtype, problem, stream);
}

} // namespace kg::vendor
