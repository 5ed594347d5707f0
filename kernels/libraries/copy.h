// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"

namespace kg::vendor {

// `supports` also receives whether x and y are both packed.
using CopyVariant = VariantOf<void(Dtype, const void*, std::int64_t, std::int64_t, std::int64_t,
                                   void*, std::int64_t, Stream&),
                              Dtype, bool>;
extern const Table<CopyVariant> copy_table;

inline void copy(std::string_view variant, Dtype dtype, const void* x, std::int64_t rows,
                 std::int64_t cols, std::int64_t ldx, void* y, std::int64_t ldy, Stream& stream) {
  const bool packed = ldx == cols && ldy == cols;
  const std::string what = join("copy", {name(dtype)});
  const auto& entry = find(copy_table, variant, what, dtype, packed);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  require_leading(what, "ldx", ldx, cols);
  require_leading(what, "ldy", ldy, cols);
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  entry.run(dtype, x, rows, cols, ldx, y, ldy, stream);
}

} // namespace kg::vendor
