// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/activation.h"
#include "libraries/dispatch.h"

namespace kg::vendor {

using ActivationBackwardVariant =
    VariantOf<void(activation::Function, Dtype, const void*, const void*, const void*, void*,
                   std::int64_t, Stream&),
              activation::Function, Dtype>;
extern const Table<ActivationBackwardVariant> activation_backward_table;

// dx = dy f'(x). `y` is f(x), for libraries that compute the derivative from it (cuDNN).
inline void activation_backward(std::string_view variant, activation::Function function,
                                Dtype dtype, const void* x, const void* y, const void* dy, void* dx,
                                std::int64_t n, Stream& stream) {
  const std::string what = join("activation_backward", {name(function), name(dtype)});
  const auto& entry = find(activation_backward_table, variant, what, function, dtype);
  require_extents(what, {{"n", n}});
  if (n == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}, {"dy", dy}, {"dx", dx}});
  entry.run(function, dtype, x, y, dy, dx, n, stream);
}

} // namespace kg::vendor
