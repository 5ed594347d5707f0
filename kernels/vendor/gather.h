// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// y[o][i][:] = table[o][index[i]][:]; table outer x extent x inner, y outer x count x inner.
struct GatherShape {
  std::int64_t outer = 0;
  std::int64_t extent = 0;
  std::int64_t inner = 0;
  std::int64_t count = 0;
};

// index_bytes: of each index, a signed integer; 4 or 8. The libraries do not look whether an index
// is in range.
void gather(std::string_view variant, Dtype dtype, const void* table, const void* index,
            std::size_t index_bytes, void* y, const GatherShape& shape, Stream& stream);

using GatherVariant = VariantOf<gather, Dtype>;
extern const Table<GatherVariant> gather_table;

} // namespace kg::vendor
