// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/dispatch.h"
#include "runtime/error.h"

namespace kg::vendor {

// y[o][i][:] = table[o][index[i]][:]; table outer x extent x inner, y outer x count x inner.
struct GatherShape {
  std::int64_t outer = 0;
  std::int64_t extent = 0;
  std::int64_t inner = 0;
  std::int64_t count = 0;
};

using GatherVariant = VariantOf<
    void(Dtype, const void*, const void*, std::size_t, void*, const GatherShape&, Stream&), Dtype>;
extern const Table<GatherVariant> gather_table;

// index_bytes: size of an index, a signed integer; 4 or 8. The libraries do not check that indices
// are in range.
inline void gather(std::string_view variant, Dtype dtype, const void* table, const void* index,
                   std::size_t index_bytes, void* y, const GatherShape& shape, Stream& stream) {
  const std::string what = join("gather", {name(dtype)});
  const auto& entry = find(gather_table, variant, what, dtype);
  require_extents(what, {{"outer", shape.outer},
                         {"extent", shape.extent},
                         {"inner", shape.inner},
                         {"count", shape.count}});
  require(index_bytes == 4 || index_bytes == 8, "kg::vendor::" + what + ": index_bytes is " +
                                                    std::to_string(index_bytes) +
                                                    "; it must be 4 or 8");
  if (shape.outer * shape.inner * shape.count == 0) return;
  require_pointers(what, {{"table", table}, {"index", index}, {"y", y}});
  entry.run(dtype, table, index, index_bytes, y, shape, stream);
}

} // namespace kg::vendor
