// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// y = gelu(x + bias) as a user of the libraries would write it: the sum into y, then gelu in place.
// The sum passes through memory and is rounded to the element type. oneDNN also offers a single
// call, with gelu as a post-op of the sum.
#pragma once

#include "libraries/dispatch.h"
#include "ops/bias_gelu/form.h"

namespace kg::vendor {

using BiasGeluVariant = VariantOf<void(bias_gelu::Form, Dtype, const void*, const void*, void*,
                                       std::int64_t, std::int64_t, Stream&),
                                  bias_gelu::Form, Dtype>;
extern const Table<BiasGeluVariant> bias_gelu_table;

inline void bias_gelu(std::string_view variant, bias_gelu::Form form, Dtype dtype, const void* x,
                      const void* bias, void* y, std::int64_t rows, std::int64_t cols,
                      Stream& stream) {
  const std::string what = join("bias_gelu", {name(form), name(dtype)});
  const auto& entry = find(bias_gelu_table, variant, what, form, dtype);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"bias", bias}, {"y", y}});
  entry.run(form, dtype, x, bias, y, rows, cols, stream);
}

} // namespace kg::vendor
