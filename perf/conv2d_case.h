// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The convolution that a shape of the cases names: nchw_n2_c4_h32_w32_o8_k3_s1_p1_g1, with square
// kernels, equal strides and the same padding on all sides.
#pragma once

#include "perf/measure/suite.h"
#include "runtime/backend.h"

#include "conv2d/conv2d.h"

#include <cstdint>

namespace kg::perf {

// All of it but the outputs and the groups.
inline conv2d::Geometry window_of(const Shape& shape) {
  const conv2d::Axis axis{.kernel = shape.number("k"),
                          .stride = shape.number("s"),
                          .pad_before = shape.number("p"),
                          .pad_after = shape.number("p")};
  const bool last = shape.word({"nchw", "nhwc"}) == 1;
  return {.batch = shape.number("n"),
          .in_channels = shape.number("c"),
          .height = shape.number("h"),
          .width = shape.number("w"),
          .vertical = axis,
          .horizontal = axis,
          .layout = last ? conv2d::Layout::nhwc : conv2d::Layout::nchw};
}

inline conv2d::Geometry convolution_of(const Shape& shape) {
  conv2d::Geometry g = window_of(shape);
  g.out_channels = shape.number("o");
  g.groups = shape.number("g");
  return g;
}

// Not where one launch of a variant of conv2d would take longer than a few milliseconds: on the
// executor the matrix units, which 16-bit types are multiplied by.
template <class T>
constexpr bool is_timed_conv2d(conv2d::Variant variant) {
  return backend != Backend::host || sizeof(T) == sizeof(float) ||
         (variant != conv2d::Variant::im2col && variant != conv2d::Variant::implicit_gemm);
}

// Where a tap of a window lies along an axis of x; outside x it lies in the padding.
inline std::int64_t coordinate(const conv2d::Axis& axis, std::int64_t window, std::int64_t tap) {
  return window * axis.stride - axis.pad_before + tap * axis.dilation;
}

} // namespace kg::perf
