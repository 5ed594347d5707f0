// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "libraries/library.h"
#include "ops/conv2d_backward/conv2d_backward.h"

namespace kg::vendor {

// Tensors as in conv2d_backward::Problem; sums are f32.
struct Conv2dBackward {
  conv2d_backward::Gradient gradient;
  Dtype dtype; // of all tensors
  conv2d::Geometry geometry;
  const void* dy;
  const void* x;       // read for the weights' gradient
  const void* weights; // read for the input's gradient
  void* result;
};
using Conv2dBackwardVariant = VariantOf<void(const Conv2dBackward&, Math, Stream&),
                                        conv2d_backward::Gradient, Dtype, const conv2d::Geometry&>;
extern const Table<Conv2dBackwardVariant> conv2d_backward_table;

// A batch of 0 writes nothing.
inline void conv2d_backward(std::string_view variant, const Conv2dBackward& problem, Math math,
                            Stream& stream) {
  const conv2d_backward::Gradient gradient = problem.gradient;
  const std::string what = join("conv2d_backward", {name(problem.dtype)});
  conv2d::require_geometry(what, problem.geometry);
  const auto& entry =
      find(conv2d_backward_table, variant, what, gradient, problem.dtype, problem.geometry);
  if (problem.geometry.batch == 0) return;
  require_pointers(what, {{"dy", problem.dy}, {"result", problem.result}});
  if (gradient == conv2d_backward::Gradient::input)
    require_pointers(what, {{"weights", problem.weights}});
  if (gradient == conv2d_backward::Gradient::weights) require_pointers(what, {{"x", problem.x}});
  entry.run(problem, math, stream);
}

} // namespace kg::vendor
