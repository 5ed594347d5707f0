// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/softmax/kind.h"

namespace kg::vendor {

using SoftmaxVariant =
    VariantOf<void(softmax::Kind, Dtype, const void*, void*, std::int64_t, std::int64_t, Stream&),
              softmax::Kind, Dtype>;
extern const Table<SoftmaxVariant> softmax_table;

// Packed rows.
inline void softmax(std::string_view variant, softmax::Kind kind, Dtype dtype, const void* x,
                    void* y, std::int64_t rows, std::int64_t cols, Stream& stream) {
  const std::string what = join(name(kind), {name(dtype)});
  const auto& entry = find(softmax_table, variant, what, kind, dtype);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"x", x}, {"y", y}});
  entry.run(kind, dtype, x, y, rows, cols, stream);
}

} // namespace kg::vendor
