// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Index maps with which Thrust's algorithms access non-contiguous elements, on either backend, and
// operations that only apply such a map: transpose, permute, gather. `policy` is Thrust's.
#pragma once

#include "libraries/broadcast.h"
#include "libraries/gather.h"
#include "libraries/permute.h"
#include "primitives/words.h"

#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/scatter.h>

// On the host, Thrust and our kernels define these keywords differently.
#ifdef __CUDACC__
#define KG_WALK __host__ __device__
#else
#define KG_WALK
#endif

namespace kg::vendor::walks {

// Iterators over the offsets walk(0), walk(1), ..., and over the elements of `data` at them.
template <class Walk>
auto places(Walk walk) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), walk);
}
template <class T, class Walk>
auto elements(T* data, Walk walk) {
  return thrust::make_permutation_iterator(data, places(walk));
}

// Offset of element i, counted row by row, in a matrix with leading dimension `leading`.
struct AlongRows {
  std::int64_t cols, leading;
  KG_WALK std::int64_t operator()(std::int64_t i) const { return i / cols * leading + i % cols; }
};

// Offset of the same element in the transposed matrix.
struct AlongColumns {
  std::int64_t cols, leading;
  KG_WALK std::int64_t operator()(std::int64_t i) const { return i % cols * leading + i / cols; }
};

// Offset of element i of a packed tensor with these extents in a tensor with these strides.
struct Strided {
  PermutedAxis axes[5];
  int rank;
  KG_WALK std::int64_t operator()(std::int64_t i) const {
    std::int64_t place = 0;
    for (int d = rank - 1; d >= 0; --d) {
      place += i % axes[d].extent * axes[d].stride;
      i /= axes[d].extent;
    }
    return place;
  }
};

// The offset, in one operand, of each element of a broadcast result.
inline Strided repeated(const BroadcastShapes& shapes,
                        const std::array<std::int64_t, kBroadcastRank>& operand) {
  const auto extents = result_extents(shapes);
  const auto strides = repeated_strides(operand);
  Strided walk{{}, kBroadcastRank};
  for (std::size_t d = 0; d < kBroadcastRank; ++d) walk.axes[d] = {extents[d], strides[d]};
  return walk;
}

// Offset, in the table, of element i of the gathered rows.
struct Picked {
  const void* index;
  bool wide;
  bool elements; // rows of one element, one slice: no divisions, the library's usual use
  GatherShape shape;
  KG_WALK std::int64_t picked(std::int64_t i) const {
    return wide ? static_cast<const std::int64_t*>(index)[i]
                : static_cast<const std::int32_t*>(index)[i];
  }
  KG_WALK std::int64_t operator()(std::int64_t i) const {
    if (elements) return picked(i);
    const std::int64_t row = i / shape.inner;
    return (row / shape.count * shape.extent + picked(row % shape.count)) * shape.inner +
           i % shape.inner;
  }
};

// y[i] = x[walk(i)]
template <class Policy, class Walk>
void pick(Policy policy, Dtype dtype, const void* x, Walk walk, std::int64_t size, void* y) {
  const auto map = places(walk);
  with_word("kg::vendor::pick", size_of(dtype), [&](auto word) {
    thrust::gather(policy, map, map + size, static_cast<const decltype(word)*>(x),
                   static_cast<decltype(word)*>(y));
  });
}

template <class Policy>
void permute(Policy policy, Dtype dtype, std::span<const PermutedAxis> axes, const void* x,
             void* y) {
  Strided source{{}, static_cast<int>(axes.size())};
  std::int64_t size = 1;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    source.axes[d] = axes[d];
    size *= axes[d].extent;
  }
  pick(policy, dtype, x, source, size, y);
}

template <class Policy>
void gather(Policy policy, Dtype dtype, const void* table, const void* index,
            std::size_t index_bytes, void* y, const GatherShape& shape) {
  pick(policy, dtype, table,
       Picked{index, index_bytes == 8, shape.outer == 1 && shape.inner == 1, shape},
       shape.outer * shape.count * shape.inner, y);
}

template <class Policy>
void transpose(Policy policy, Dtype dtype, const void* x, std::int64_t rows, std::int64_t cols,
               std::int64_t ldx, void* y, std::int64_t ldy) {
  with_word("kg::vendor::transpose", size_of(dtype), [&](auto word) {
    const auto from = elements(static_cast<const decltype(word)*>(x), AlongRows{cols, ldx});
    thrust::scatter(policy, from, from + rows * cols, places(AlongColumns{cols, ldy}),
                    static_cast<decltype(word)*>(y));
  });
}

} // namespace kg::vendor::walks
