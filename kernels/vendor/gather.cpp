// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/gather.h"

#include "runtime/error.h"
#include "vendor/dispatch.h"

#include <string>

namespace kg::vendor {

void gather(std::string_view variant, Dtype dtype, const void* table, const void* index,
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
