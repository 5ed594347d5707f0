// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "ops/elementwise/op.h"

namespace kg::vendor {

using ElementwiseVariant =
    VariantOf<void(elementwise::Op, Dtype, const void*, const void*, void*, std::int64_t, Stream&),
              elementwise::Op, Dtype>;
extern const Table<ElementwiseVariant> elementwise_table;

inline void elementwise(std::string_view variant, elementwise::Op op, Dtype dtype, const void* a,
                        const void* b, void* out, std::int64_t n, Stream& stream) {
  const std::string what = join("elementwise", {name(op), name(dtype)});
  const auto& entry = find(elementwise_table, variant, what, op, dtype);
  require_extents(what, {{"n", n}});
  if (n == 0) return;
  require_pointers(what, {{"a", a}, {"b", b}, {"out", out}});
  entry.run(op, dtype, a, b, out, n, stream);
}

} // namespace kg::vendor
