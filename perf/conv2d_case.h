// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The convolution that a shape of the cases names: nchw_n2_c4_h32_w32_o8_k3_s1_p1_g1, with square
// kernels, equal strides and the same padding on all sides.
#pragma once

#include "conv2d/geometry.h"
#include "perf/measure/suite.h"

#include <cstdint>

namespace kg::perf {

inline conv2d::Geometry convolution_of(const Shape& shape) {
  const conv2d::Axis axis{.kernel = shape.number("k"),
                          .stride = shape.number("s"),
                          .pad_before = shape.number("p"),
                          .pad_after = shape.number("p")};
  const bool last = shape.word({"nchw", "nhwc"}) == 1;
  return {.batch = shape.number("n"),
          .in_channels = shape.number("c"),
          .height = shape.number("h"),
          .width = shape.number("w"),
          .out_channels = shape.number("o"),
          .vertical = axis,
          .horizontal = axis,
          .groups = shape.number("g"),
          .layout = last ? conv2d::Layout::nhwc : conv2d::Layout::nchw};
}

// Where a tap of a window lies along an axis of x; outside x it lies in the padding.
inline std::int64_t coordinate(const conv2d::Axis& axis, std::int64_t window, std::int64_t tap) {
  return window * axis.stride - axis.pad_before + tap * axis.dilation;
}

} // namespace kg::perf
