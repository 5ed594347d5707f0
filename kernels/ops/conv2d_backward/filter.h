// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory layout of a filter.
#pragma once

#include "ops/conv2d/variants.h"

namespace kg::conv2d_backward {

// The filters of a convolution: extents and strides in elements.
struct Filter {
  int channels, rows, columns;
  int channel_step, row_step, column_step;

  __host__ __device__ constexpr int elements() const { return channels * rows * columns; }
};

inline Filter filter_of(conv2d::Layout layout, std::int64_t channels, std::int64_t rows,
                        std::int64_t columns) {
  const conv2d::Strides strides = conv2d::strides(layout, channels, rows, columns);
  return {static_cast<int>(channels),    static_cast<int>(rows),
          static_cast<int>(columns),     static_cast<int>(strides.channel),
          static_cast<int>(strides.row), static_cast<int>(strides.column)};
}

inline Filter filter_of(const conv2d::Geometry& g) {
  return filter_of(g.layout, g.group_inputs(), g.vertical.kernel, g.horizontal.kernel);
}

// One element of a filter.
struct Weight {
  int channel, row, column;
};

// The element at `index` in memory order.
__device__ __forceinline__ Weight weight_at(int index, const Filter& f) {
  return {index / f.channel_step % f.channels, index / f.row_step % f.rows,
          index / f.column_step % f.columns};
}

} // namespace kg::conv2d_backward
