// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "libraries/softmax.h"

namespace kg::vendor {

using SoftmaxBackwardVariant = VariantOf<void(softmax::Kind, Dtype, const void*, const void*, void*,
                                              std::int64_t, std::int64_t, Stream&),
                                         softmax::Kind, Dtype>;
extern const Table<SoftmaxBackwardVariant> softmax_backward_table;

// dx from y, the result of softmax or log_softmax, and its gradient dy. Packed rows.
inline void softmax_backward(std::string_view variant, softmax::Kind kind, Dtype dtype,
                             const void* y, const void* dy, void* dx, std::int64_t rows,
                             std::int64_t cols, Stream& stream) {
  const std::string what = join("softmax_backward", {name(kind), name(dtype)});
  const auto& entry = find(softmax_backward_table, variant, what, kind, dtype);
  require_extents(what, {{"rows", rows}, {"cols", cols}});
  if (rows == 0 || cols == 0) return;
  require_pointers(what, {{"y", y}, {"dy", dy}, {"dx", dx}});
  entry.run(kind, dtype, y, dy, dx, rows, cols, stream);
}

} // namespace kg::vendor
