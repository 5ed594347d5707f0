// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/permute.h"

#include "primitives/words.h"
#include "vendor/host/onednn_reorder.h"
#include "vendor/host/thrust.h"

#include <thrust/gather.h>

#include <algorithm>
#include <array>

namespace kg::vendor {
namespace onednn {
namespace {

void permute(Dtype dtype, std::span<const PermutedAxis> axes, const void* x, void* y, Stream&) {
  dnnl::memory::dims shape;
  dnnl::memory::dims from;
  dnnl::memory::dims to(axes.size(), 1);
  for (const PermutedAxis& axis : axes) {
    shape.push_back(axis.extent);
    from.push_back(axis.stride);
  }
  for (std::size_t d = axes.size() - 1; d > 0; --d) to[d - 1] = to[d] * shape[d];
  reorder("permute", dtype, shape, x, from, y, to);
}

} // namespace
} // namespace onednn

namespace thrust_host {
namespace {

// Where element i of y comes from.
struct Permuted {
  std::array<PermutedAxis, 5> axes;
  std::size_t rank;
  std::int64_t operator()(std::int64_t i) const {
    std::int64_t place = 0;
    for (std::size_t d = rank; d-- > 0; i /= axes[d].extent)
      place += i % axes[d].extent * axes[d].stride;
    return place;
  }
};

void permute(Dtype dtype, std::span<const PermutedAxis> axes, const void* x, void* y, Stream&) {
  Permuted source{{}, axes.size()};
  std::copy(axes.begin(), axes.end(), source.axes.begin());
  std::int64_t size = 1;
  for (const PermutedAxis& axis : axes) size *= axis.extent;
  const auto map = thrust::make_transform_iterator(Index(0), source);
  with_word("kg::vendor::permute", size_of(dtype), [&](auto word) {
    thrust::gather(thrust::device, map, map + size, static_cast<const decltype(word)*>(x),
                   static_cast<decltype(word)*>(y));
  });
}

} // namespace
} // namespace thrust_host

const Table<PermuteVariant> permute_table = {
    {"onednn", onednn::reorder_supported, onednn::permute},
    {"thrust", always, thrust_host::permute},
};

} // namespace kg::vendor
