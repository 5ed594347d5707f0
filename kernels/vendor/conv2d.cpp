// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/conv2d.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void conv2d(std::string_view variant, const Conv2d& problem, Math math, Stream& stream) {
  const std::string what = join("conv2d", {name(problem.dtype)});
  conv2d::require_geometry(what, problem.geometry);
  const auto& entry = find(conv2d_table, variant, what, problem.dtype, problem.geometry);
  if (problem.geometry.batch == 0) return;
  require_pointers(what, {{"x", problem.x}, {"weights", problem.weights}, {"y", problem.y}});
  entry.run(problem, math, stream);
}

} // namespace kg::vendor
