// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/batchnorm/problem.h"

namespace kg::vendor {

// dy, x and dx have the given Dtype, all other arrays are f32; no pointer may be null. rstd must
// not be 0, because oneDNN takes the variance instead.
struct BatchnormBackwardProblem {
  batchnorm::Problem shape;
  const void* dy;
  const void* x;
  const float* gamma;
  const float* mean;
  const float* rstd;
  void* dx;
  float* dgamma;
  float* dbeta;
};

using BatchnormBackwardVariant = VariantOf<void(Dtype, const BatchnormBackwardProblem&, Stream&),
                                           Dtype, const batchnorm::Problem&>;
extern const Table<BatchnormBackwardVariant> batchnorm_backward_table;

inline void batchnorm_backward(std::string_view variant, Dtype dtype,
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
