// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/transpose.h"

#include "vendor/dispatch.h"

namespace kg::vendor {

void transpose(std::string_view variant, Dtype dtype, const void* x, std::int64_t rows,
               std::int64_t cols, std::int64_t ldx, void* y, std::int64_t ldy, Stream& stream) {
  const std::string what = join("transpose", {name(dtype)});
  const auto& entry = find(transpose_table, variant, what, dtype);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  require_leading(what, "ldx", ldx, cols);
  require_leading(what, "ldy", ldy, rows);
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  entry.run(dtype, x, rows, cols, ldx, y, ldy, stream);
}

} // namespace kg::vendor
