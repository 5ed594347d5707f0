// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/gather.h"

#include "primitives/words.h"
#include "vendor/host/thrust.h"

#include <thrust/gather.h>

namespace kg::vendor {
namespace thrust_host {
namespace {

// Where element i of y comes from.
struct Picked {
  const void* index;
  bool wide;
  GatherShape shape;
  std::int64_t operator()(std::int64_t i) const {
    const std::int64_t row = i / shape.inner;
    const std::int64_t at = row % shape.count;
    const std::int64_t picked = wide ? static_cast<const std::int64_t*>(index)[at]
                                     : static_cast<const std::int32_t*>(index)[at];
    return (row / shape.count * shape.extent + picked) * shape.inner + i % shape.inner;
  }
};

void gather(Dtype dtype, const void* table, const void* index, std::size_t index_bytes, void* y,
            const GatherShape& shape, Stream&) {
  const auto map =
      thrust::make_transform_iterator(Index(0), Picked{index, index_bytes == 8, shape});
  const std::int64_t size = shape.outer * shape.count * shape.inner;
  with_word("kg::vendor::gather", size_of(dtype), [&](auto word) {
    thrust::gather(thrust::device, map, map + size, static_cast<const decltype(word)*>(table),
                   static_cast<decltype(word)*>(y));
  });
}

} // namespace
} // namespace thrust_host

const Table<GatherVariant> gather_table = {{"thrust", always, thrust_host::gather}};

} // namespace kg::vendor
