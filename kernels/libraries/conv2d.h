// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "libraries/library.h"
#include "ops/conv2d/geometry.h"

namespace kg::vendor {

struct Conv2d {
  Dtype dtype; // of all tensors; sums are f32
  conv2d::Geometry geometry;
  const void* x;
  const void* weights;
  const void* bias; // null: none
  void* y;
};
using Conv2dVariant = VariantOf<void(const Conv2d&, Math, Stream&), Dtype, const conv2d::Geometry&>;
extern const Table<Conv2dVariant> conv2d_table;

inline void conv2d(std::string_view variant, const Conv2d& problem, Math math, Stream& stream) {
  const std::string what = join("conv2d", {name(problem.dtype)});
  conv2d::require_geometry(what, problem.geometry);
  const auto& entry = find(conv2d_table, variant, what, problem.dtype, problem.geometry);
  if (problem.geometry.batch == 0) return;
  require_pointers(what, {{"x", problem.x}, {"weights", problem.weights}, {"y", problem.y}});
  entry.run(problem, math, stream);
}

} // namespace kg::vendor
