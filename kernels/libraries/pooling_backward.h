// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/pooling/problem.h"

namespace kg::vendor {

// x and y are the input and the output of the forward pass. dx is written.
struct PoolingGradient {
  const void* x;
  const void* y;
  const void* dy;
  void* dx;
};

using PoolingBackwardVariant =
    VariantOf<void(pooling::Kind, Dtype, const pooling::Problem&, const PoolingGradient&, Stream&),
              pooling::Kind, Dtype, const pooling::Problem&>;
extern const Table<PoolingBackwardVariant> pooling_backward_table;

inline void pooling_backward(std::string_view variant, pooling::Kind kind, Dtype dtype,
                             const pooling::Problem& problem, const PoolingGradient& gradient,
                             Stream& stream) {
  const std::string what = join("pooling_backward", {pooling::name(kind), name(dtype)});
  pooling::require_problem(what, problem);
  const auto& entry = find(pooling_backward_table, variant, what, kind, dtype, problem);
  if (problem.planes() == 0) return;
  require_pointers(
      what, {{"x", gradient.x}, {"y", gradient.y}, {"dy", gradient.dy}, {"dx", gradient.dx}});
  entry.run(kind, dtype, problem, gradient, stream);
}

} // namespace kg::vendor
