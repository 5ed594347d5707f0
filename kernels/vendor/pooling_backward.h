// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pooling/problem.h"
#include "vendor/variants.h"

namespace kg::vendor {

// What a pooling's gradient is made of: x and y, the input and the output of the forward pass, and
// dy. dx is written.
struct PoolingGradient {
  const void* x;
  const void* y;
  const void* dy;
  void* dx;
};

void pooling_backward(std::string_view variant, pooling::Kind kind, Dtype dtype,
                      const pooling::Problem& problem, const PoolingGradient& gradient,
                      Stream& stream);

using PoolingBackwardVariant =
    VariantOf<pooling_backward, pooling::Kind, Dtype, const pooling::Problem&>;
extern const Table<PoolingBackwardVariant> pooling_backward_table;

} // namespace kg::vendor
