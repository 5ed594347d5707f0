// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "primitives/activation_function.h"

namespace kg::vendor {

using ActivationVariant =
    VariantOf<void(activation::Function, Dtype, const void*, void*, std::int64_t, Stream&),
              activation::Function, Dtype>;
extern const Table<ActivationVariant> activation_table;

inline void activation(std::string_view variant, activation::Function function, Dtype dtype,
                       const void* x, void* y, std::int64_t n, Stream& stream) {
  const std::string what = join("activation", {name(function), name(dtype)});
  const auto& entry = find(activation_table, variant, what, function, dtype);
  require_extents(what, {{"n", n}});
  if (n == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  entry.run(function, dtype, x, y, n, stream);
}

} // namespace kg::vendor
