// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of y = act(gate) value as a user of the libraries would write them. Each row of x holds
// its gates, then as many values: x and dx are rows x 2 cols, dy is rows x cols, all packed. dx
// must not overlap an input.
#pragma once

#include "libraries/activation.h"
#include "libraries/dispatch.h"

namespace kg::vendor {

using GatedActivationBackwardVariant =
    VariantOf<void(activation::Function, Dtype, const void*, const void*, void*, std::int64_t,
                   std::int64_t, Stream&),
              activation::Function, Dtype>;
extern const Table<GatedActivationBackwardVariant> gated_activation_backward_table;

inline void gated_activation_backward(std::string_view variant, activation::Function function,
                                      Dtype dtype, const void* x, const void* dy, void* dx,
                                      std::int64_t rows, std::int64_t cols, Stream& stream) {
  const std::string what = join("gated_activation_backward", {name(function), name(dtype)});
  const auto& entry = find(gated_activation_backward_table, variant, what, function, dtype);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"dy", dy}, {"dx", dx}});
  entry.run(function, dtype, x, dy, dx, rows, cols, stream);
}

} // namespace kg::vendor
