// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of conv2d as conv2d.cu calls them. Preconditions: the problem is valid, its batch is
// at least 1, and a required workspace exists.
#pragma once

#include "ops/conv2d/conv2d.h"
#include "primitives/window_taps.h"

#include <cstddef>
#include <cstdint>

namespace kg::conv2d {

template <class T> // float, f16, bf16
void run_direct(const Problem<T>& problem, Stream& stream);
template <class T> // float, f16, bf16
void run_im2col(const Problem<T>& problem, Stream& stream);
void run_implicit_gemm(const Problem<float>& problem, Stream& stream);
template <class T> // float, f16, bf16
void run_depthwise_nchw(const Problem<T>& problem, Stream& stream);
template <class T> // float, f16, bf16
void run_depthwise_nhwc(const Problem<T>& problem, Stream& stream);
template <class T> // float, f16, bf16
void run_jit(const Problem<T>& problem, Stream& stream);
template <class T> // f16, bf16
void run_implicit_gemm_mma(const Problem<T>& problem, Stream& stream);

template <class T>
std::size_t im2col_workspace_bytes(const Geometry& geometry);

// Elements between neighbouring input channels, rows and columns, and between images of x or
// filters.
struct Strides {
  std::int64_t channel, row, column, outer;
};

constexpr Strides strides(Layout layout, std::int64_t channels, std::int64_t height,
                          std::int64_t width) {
  const std::int64_t outer = channels * height * width;
  if (layout == Layout::nhwc) return {1, width * channels, channels, outer};
  return {height * width, width, 1, outer};
}
constexpr Strides strides_of_x(const Geometry& g) {
  return strides(g.layout, g.in_channels, g.height, g.width);
}
constexpr Strides strides_of_weights(const Geometry& g) {
  return strides(g.layout, g.group_inputs(), g.vertical.kernel, g.horizontal.kernel);
}

// The windows along an axis of x. y has step 0: every kernel writes y in memory order.
inline window::Line vertical_line(const Geometry& g) {
  return window::line_of(g.vertical, g.height, g.out_height(), strides_of_x(g).row, 0);
}
inline window::Line horizontal_line(const Geometry& g) {
  return window::line_of(g.horizontal, g.width, g.out_width(), strides_of_x(g).column, 0);
}

} // namespace kg::conv2d
