// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The axes of y, as few as describe the permutation.
#pragma once

#include "permute/permute.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace kg::permute {

// In the order of y, which is packed; strides are those in x. For kernels by value.
struct Axes {
  int rank = 0;
  bool narrow = false; // all places fit 32 bits, whose divisions are several times faster
  std::int64_t extent[kMaxRank] = {};
  std::int64_t stride[kMaxRank] = {};
  std::int64_t size = 1;
};

// Axes of extent 1 are dropped, and neighbours in y merged that are neighbours in x, too.
inline Axes merged_axes(const Permutation& permutation) {
  std::int64_t stride[kMaxRank] = {};
  std::int64_t size = 1;
  for (int d = permutation.rank - 1; d >= 0; --d) {
    stride[d] = size;
    size *= permutation.shape[d];
  }
  Axes axes;
  axes.size = size;
  axes.narrow = size <= std::numeric_limits<std::int32_t>::max();
  for (int d = 0; d < permutation.rank; ++d) {
    const std::int64_t extent = permutation.shape[permutation.order[d]];
    const std::int64_t step = stride[permutation.order[d]];
    if (extent == 1) continue;
    const int last = axes.rank - 1;
    if (axes.rank > 0 && axes.stride[last] == extent * step) {
      axes.extent[last] *= extent;
      axes.stride[last] = step;
    } else {
      axes.extent[axes.rank] = extent;
      axes.stride[axes.rank] = step;
      ++axes.rank;
    }
  }
  if (axes.rank == 0) { // one element
    axes.rank = 1;
    axes.extent[0] = 1;
    axes.stride[0] = 1;
  }
  return axes;
}

// Element `place` of the first `rank` axes, counted in their order, lies here in x. Indices of axes
// are constants throughout: with others the compiler would copy the axes to local memory.
__device__ inline std::int64_t source_of(std::int64_t place, const Axes& axes, int rank) {
  std::int64_t source = 0;
  if (axes.narrow) {
    auto left = static_cast<std::uint32_t>(place);
    KG_UNROLL
    for (int d = kMaxRank - 1; d > 0; --d) {
      if (d >= rank) continue;
      const auto extent = static_cast<std::uint32_t>(axes.extent[d]);
      source += left % extent * axes.stride[d];
      left /= extent;
    }
    return source + left * axes.stride[0];
  }
  KG_UNROLL
  for (int d = kMaxRank - 1; d > 0; --d) {
    if (d >= rank) continue;
    source += place % axes.extent[d] * axes.stride[d];
    place /= axes.extent[d];
  }
  return source + place * axes.stride[0];
}

} // namespace kg::permute
