// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/variants.h"

namespace kg::vendor {

// Axis d of y is axis order[d] of x. `shape` is that of x; both spans have one entry per axis.
void permute(std::string_view variant, Dtype dtype, std::span<const std::int64_t> shape,
             std::span<const int> order, const void* x, void* y, Stream& stream);

// An axis of y: its extent, and its stride in x.
struct PermutedAxis {
  std::int64_t extent, stride;
};

// `axes` are in the order of y: at most five, none of extent 0.
struct PermuteVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype);
  void (*run)(Dtype dtype, std::span<const PermutedAxis> axes, const void* x, void* y,
              Stream& stream);
};
extern const Table<PermuteVariant> permute_table;

} // namespace kg::vendor
