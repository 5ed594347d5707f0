// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

using TransposeVariant = VariantOf<void(Dtype, const void*, std::int64_t, std::int64_t,
                                        std::int64_t, void*, std::int64_t, Stream&),
                                   Dtype>;
extern const Table<TransposeVariant> transpose_table;

inline void transpose(std::string_view variant, Dtype dtype, const void* x, std::int64_t rows,
                      std::int64_t cols, std::int64_t ldx, void* y, std::int64_t ldy,
                      Stream& stream) {
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
