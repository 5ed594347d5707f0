// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/axpy.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void axpy(std::string_view variant, Dtype dtype, float alpha, const void* x, const void* y,
          void* out, std::int64_t n, Stream& stream) {
  const std::string what = join("axpy", {name(dtype)});
  const auto& entry = find(axpy_table, variant, what, dtype);
  require_extents(what, {{"n", n}});
  if (n == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}, {"out", out}});
  entry.run(dtype, alpha, x, y, out, n, stream);
}

} // namespace kg::vendor
