// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/conv2d_backward.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

using conv2d_backward::Gradient;

void conv2d_backward(std::string_view variant, const Conv2dBackward& problem, Math math,
                     Stream& stream) {
  const Gradient gradient = problem.gradient;
  const std::string what = join("conv2d_backward", {name(problem.dtype)});
  conv2d::require_geometry(what, problem.geometry);
  const auto& entry =
      find(conv2d_backward_table, variant, what, gradient, problem.dtype, problem.geometry);
  if (problem.geometry.batch == 0) return;
  require_pointers(what, {{"dy", problem.dy}, {"result", problem.result}});
  if (gradient == Gradient::input) require_pointers(what, {{"weights", problem.weights}});
  if (gradient == Gradient::weights) require_pointers(what, {{"x", problem.x}});
  entry.run(problem, math, stream);
}

} // namespace kg::vendor
