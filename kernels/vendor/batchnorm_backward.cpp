// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/batchnorm_backward.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void batchnorm_backward(std::string_view variant, Dtype dtype,
                        const BatchnormBackwardProblem& problem, Stream& stream) {
  const std::string what = join("batchnorm_backward", {name(dtype)});
  batchnorm::require_problem("kg::vendor::" + what, problem.shape);
  const auto& entry = find(batchnorm_backward_table, variant, what, dtype, problem.shape);
  if (problem.shape.elements() == 0) return;
  require_pointers(what, {{"dy", problem.dy},
                          {"x", problem.x},
                          {"gamma", problem.gamma},
                          {"mean", problem.mean},
                          {"rstd", problem.rstd},
                          {"dx", problem.dx},
                          {"dgamma", problem.dgamma},
                          {"dbeta", problem.dbeta}});
  entry.run(dtype, problem, stream);
}

} // namespace kg::vendor
