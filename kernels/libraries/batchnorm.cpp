// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/batchnorm.h"

#include "libraries/dispatch.h"

namespace kg::vendor {
namespace {

using Run = void (*)(Dtype dtype, const BatchnormProblem& problem, Stream& stream);

void run(Run BatchnormVariant::*direction, std::string_view variant, Dtype dtype,
         const BatchnormProblem& problem, Stream& stream) {
  const std::string what = join("batchnorm", {name(dtype)});
  batchnorm::require_problem("kg::vendor::" + what, problem.shape);
  const auto& entry = find(batchnorm_table, variant, what, dtype, problem.shape);
  if (problem.shape.elements() == 0) return;
  require_pointers(what, {{"x", problem.x},
                          {"gamma", problem.gamma},
                          {"beta", problem.beta},
                          {"y", problem.y},
                          {"mean", problem.mean},
                          {"spread", problem.spread}});
  (entry.*direction)(dtype, problem, stream);
}

} // namespace

void batchnorm_training(std::string_view variant, Dtype dtype, const BatchnormProblem& problem,
                        Stream& stream) {
  run(&BatchnormVariant::train, variant, dtype, problem, stream);
}

void batchnorm_inference(std::string_view variant, Dtype dtype, const BatchnormProblem& problem,
                         Stream& stream) {
  run(&BatchnormVariant::infer, variant, dtype, problem, stream);
}

} // namespace kg::vendor
