// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/permute.h"

#include "libraries/host/onednn_reorder.h"
#include "libraries/host/thrust.h"
#include "libraries/thrust_walks.h"

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

void permute(Dtype dtype, std::span<const PermutedAxis> axes, const void* x, void* y, Stream&) {
  walks::permute(thrust::device, dtype, axes, x, y);
}

} // namespace
} // namespace thrust_host

const Table<PermuteVariant> permute_table = {
    {"onednn", onednn::reorder_supported, onednn::permute},
    {"thrust", always, thrust_host::permute},
};

} // namespace kg::vendor
