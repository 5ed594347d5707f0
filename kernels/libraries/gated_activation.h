// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// y = act(gate) value as a user of the libraries would write it. Each row of x holds its gates,
// then as many values: x is rows x 2 cols, y rows x cols, both packed.
#pragma once

#include "libraries/activation.h"
#include "libraries/dispatch.h"

namespace kg::vendor {

using GatedActivationVariant = VariantOf<void(activation::Function, Dtype, const void*, void*,
                                              std::int64_t, std::int64_t, Stream&),
                                         activation::Function, Dtype>;
extern const Table<GatedActivationVariant> gated_activation_table;

inline void gated_activation(std::string_view variant, activation::Function function, Dtype dtype,
                             const void* x, void* y, std::int64_t rows, std::int64_t cols,
                             Stream& stream) {
  const std::string what = join("gated_activation", {name(function), name(dtype)});
  const auto& entry = find(gated_activation_table, variant, what, function, dtype);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  entry.run(function, dtype, x, y, rows, cols, stream);
}

} // namespace kg::vendor
