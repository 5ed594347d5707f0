// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/bias_gelu.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void bias_gelu(std::string_view variant, bias_gelu::Form form, Dtype dtype, const void* x,
               const void* bias, void* y, std::int64_t rows, std::int64_t cols, Stream& stream) {
  const std::string what = join("bias_gelu", {name(form), name(dtype)});
  const auto& entry = find(bias_gelu_table, variant, what, form, dtype);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"bias", bias}, {"y", y}});
  entry.run(form, dtype, x, bias, y, rows, cols, stream);
}

} // namespace kg::vendor
