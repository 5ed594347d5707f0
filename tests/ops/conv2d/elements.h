// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Single elements of a convolution's result, for timed cases: the oracle would take minutes for the
// whole result.
#pragma once

#include <cmath>
#include <cstdint>

#include "ops/conv2d/geometry.h"
#include "tests/contract/card.h"

namespace kg::card {

// A tensor of outer x channels x rows x columns in one of the layouts.
struct Images {
  struct Element {
    std::int64_t outer, channel, row, column;
  };
  conv2d::Layout layout;
  std::int64_t channels, rows, columns;

  bool holds(const Element& e) const {
    return e.row >= 0 && e.row < rows && e.column >= 0 && e.column < columns;
  }
  std::int64_t index(const Element& e) const {
    return layout == conv2d::Layout::nhwc
               ? ((e.outer * rows + e.row) * columns + e.column) * channels + e.channel
               : ((e.outer * channels + e.channel) * rows + e.row) * columns + e.column;
  }
  Element at(std::int64_t index) const {
    if (layout == conv2d::Layout::nhwc) {
      const std::int64_t place = index / channels;
      return {place / columns / rows, index % channels, place / columns % rows, place % columns};
    }
    const std::int64_t plane = index / columns / rows;
    return {plane / channels, plane % channels, index / columns % rows, index % columns};
  }
};
inline Images images_of_x(const conv2d::Geometry& g) {
  return {g.layout, g.in_channels, g.height, g.width};
}
inline Images images_of_y(const conv2d::Geometry& g) {
  return {g.layout, g.out_channels, g.out_height(), g.out_width()};
}
inline Images filters_of(const conv2d::Geometry& g) {
  return {g.layout, g.group_inputs(), g.vertical.kernel, g.horizontal.kernel};
}

// The coordinate of a window's tap along an axis of x; outside x it is padding.
inline std::int64_t coordinate(const conv2d::Axis& axis, std::int64_t window, std::int64_t tap) {
  return window * axis.stride - axis.pad_before + tap * axis.dilation;
}

// In exact arithmetic, with the sum of the magnitudes of its terms.
struct Sum {
  double value = 0, condition = 0;
  void add(double term) {
    value += term;
    condition += std::fabs(term);
  }
};

// The sum of products of an element of y.
inline Sum products_of_y(const conv2d::Geometry& g, const Elements& x, const Elements& weights,
                         const Images::Element& at) {
  const Images images = images_of_x(g), filters = filters_of(g);
  const std::int64_t first = at.channel / g.group_outputs() * g.group_inputs();
  Sum sum;
  for (std::int64_t c = 0; c < g.group_inputs(); ++c)
    for (std::int64_t r = 0; r < filters.rows; ++r)
      for (std::int64_t s = 0; s < filters.columns; ++s) {
        const Images::Element of_x{at.outer, first + c, coordinate(g.vertical, at.row, r),
                                   coordinate(g.horizontal, at.column, s)};
        if (images.holds(of_x))
          sum.add(x(images.index(of_x)) * weights(filters.index({at.channel, c, r, s})));
      }
  return sum;
}

} // namespace kg::card
