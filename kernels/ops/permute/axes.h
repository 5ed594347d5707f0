// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The minimal list of axes that describes a permutation.
#pragma once

#include "ops/permute/permute.h"

#include "primitives/divisor.h"

#include <cstddef>
#include <cstdint>

namespace kg::permute {

// Axes in the order of y, which is packed; strides are those in x.
struct Axes {
  int rank = 0;
  std::int64_t extent[kMaxRank] = {};
  std::int64_t stride[kMaxRank] = {};
  std::int64_t size = 1;
};

// Drops axes of extent 1 and merges axes that are neighbours in both y and x.
inline Axes merged_axes(const Permutation& permutation) {
  std::int64_t stride[kMaxRank] = {};
  std::int64_t size = 1;
  for (int d = permutation.rank - 1; d >= 0; --d) {
    stride[d] = size;
    size *= permutation.shape[d];
  }
  Axes axes;
  axes.size = size;
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

// The same axes for kernels, which split an element index into coordinates.
struct DividedAxes {
  int rank = 0;
  std::int64_t size = 0;
  Divisor extent[kMaxRank];
  std::int64_t stride[kMaxRank] = {};
};

inline DividedAxes divided(const Axes& axes) {
  DividedAxes result;
  result.rank = axes.rank;
  result.size = axes.size;
  for (int d = 0; d < axes.rank; ++d) {
    result.extent[d] = Divisor(axes.extent[d]);
    result.stride[d] = axes.stride[d];
  }
  return result;
}

// The offset in x of element `place` of the first `rank` axes. All indices into axes are
// compile-time constants; otherwise the compiler would copy the axes to local memory.
__device__ inline std::int64_t source_of(std::int64_t place, const DividedAxes& axes, int rank) {
  std::int64_t source = 0;
  KG_UNROLL
  for (int d = kMaxRank - 1; d > 0; --d) {
    if (d >= rank) continue;
    const std::int64_t before = axes.extent[d].quotient(place);
    source += (place - before * axes.extent[d].value) * axes.stride[d];
    place = before;
  }
  return source + place * axes.stride[0];
}

} // namespace kg::permute
