// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/gather.h"

#include "primitives/words.h"
#include "vendor/cuda/thrust.h"

#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

namespace kg::vendor {
namespace thrust_cuda {
namespace {

// Where element i of y comes from.
struct Source {
  const void* index;
  bool wide;
  bool elements; // rows of one element in one slice: without divisions, as the library is meant
  GatherShape shape;
  __device__ std::int64_t picked(std::int64_t i) const {
    return wide ? static_cast<const std::int64_t*>(index)[i]
                : static_cast<const std::int32_t*>(index)[i];
  }
  __device__ std::int64_t operator()(std::int64_t i) const {
    if (elements) return picked(i);
    const std::int64_t row = i / shape.inner;
    return (row / shape.count * shape.extent + picked(row % shape.count)) * shape.inner +
           i % shape.inner;
  }
};

void gather(Dtype dtype, const void* table, const void* index, std::size_t index_bytes, void* y,
            const GatherShape& shape, Stream& stream) {
  const bool elements = shape.outer == 1 && shape.inner == 1;
  const auto map = thrust::make_transform_iterator(
      thrust::counting_iterator<std::int64_t>(0), Source{index, index_bytes == 8, elements, shape});
  const std::int64_t size = shape.outer * shape.count * shape.inner;
  translate("gather", [&] {
    with_word("kg::vendor::gather", size_of(dtype), [&](auto word) {
      thrust::gather(on(stream), map, map + size, static_cast<const decltype(word)*>(table),
                     static_cast<decltype(word)*>(y));
    });
  });
}

} // namespace
} // namespace thrust_cuda

const Table<GatherVariant> gather_table = {{"thrust", always, thrust_cuda::gather}};

} // namespace kg::vendor
