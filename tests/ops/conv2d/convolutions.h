// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The test convolutions of conv2d, its gradients and the vendors, and their conversion for the
// oracle, which only knows nchw.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ops/conv2d/geometry.h"
#include "tests/contract/shape_grammar.h"
#include "tests/ops/windows.h"
#include "tests/oracle/image_layout.h"
#include "tests/oracle/oracle_conv.h"

namespace kg::test {

// A kernel of 3 that preserves the extent.
inline constexpr conv2d::Axis kThree{.kernel = 3, .pad_before = 1, .pad_after = 1};

inline Convolution oracle_problem(const conv2d::Geometry& g) {
  const auto axis = [](const conv2d::Axis& a) {
    return PoolAxis{a.kernel, a.stride, a.pad_before, a.pad_after, a.dilation};
  };
  return {g.batch,        g.in_channels,    g.height,           g.width,
          g.out_channels, axis(g.vertical), axis(g.horizontal), g.groups};
}

// The part of the grammar that all convolution operations share. Separable convolutions do not name
// their groups: one per channel.
inline card::ShapeGrammar<conv2d::Geometry> geometry_grammar(bool groups = true) {
  using conv2d::Geometry, conv2d::Layout;
  auto grammar = card::ShapeGrammar<Geometry>()
                     .one_of(&Geometry::layout, {{"nchw", Layout::nchw}, {"nhwc", Layout::nhwc}})
                     .number("n", &Geometry::batch)
                     .number("c", &Geometry::in_channels)
                     .number("h", &Geometry::height)
                     .number("w", &Geometry::width)
                     .number("o", &Geometry::out_channels)
                     .nested(card::windows_grammar<Geometry>());
  if (!groups) return grammar;
  return grammar.number("g", &Geometry::groups).demand([](const Geometry& g) -> std::string {
    if (g.groups == 0 || (g.in_channels % g.groups == 0 && g.out_channels % g.groups == 0))
      return "";
    return "g must divide c and o, the channels";
  });
}

// As in a case id: nhwc_n2_c3_h5_w7_o4_k2.3_s1_p0.1.1.1_g1 (windows.h).
inline std::string text(const conv2d::Geometry& g) { return geometry_grammar().print(g); }
inline std::vector<std::string> texts(const std::vector<conv2d::Geometry>& geometries) {
  std::vector<std::string> result;
  for (const conv2d::Geometry& g : geometries) result.push_back(text(g));
  return result;
}

// The call of a candidate kernel; `form` precedes the layout in its function's name.
inline card::Calling calling_of(const conv2d::Geometry& g, const std::string& form) {
  return {form + std::string(name(g.layout)), card::with_windows({{"n", {g.batch}},
                                                                  {"c", {g.in_channels}},
                                                                  {"h", {g.height}},
                                                                  {"w", {g.width}},
                                                                  {"o", {g.out_channels}},
                                                                  {"groups", {g.groups}}},
                                                                 g.vertical, g.horizontal)};
}

// From the oracle's nchw and oihw to the problem's layout.
template <typename V>
std::vector<V> x_in_layout(const std::vector<V>& x, const conv2d::Geometry& g) {
  return g.layout == conv2d::Layout::nchw
             ? x
             : channels_last(x, g.batch, g.in_channels, g.height * g.width);
}
template <typename V>
std::vector<V> weights_in_layout(const std::vector<V>& weights, const conv2d::Geometry& g) {
  return g.layout == conv2d::Layout::nchw
             ? weights
             : channels_last(weights, g.out_channels, g.group_inputs(), g.taps());
}
template <typename V>
std::vector<V> y_in_layout(const std::vector<V>& y, const conv2d::Geometry& g) {
  return g.layout == conv2d::Layout::nchw
             ? y
             : channels_last(y, g.batch, g.out_channels, g.out_places());
}

// The inverse.
template <typename V>
std::vector<V> y_in_nchw(const std::vector<V>& y, const conv2d::Geometry& g) {
  return g.layout == conv2d::Layout::nchw
             ? y
             : channels_first(y, g.batch, g.out_channels, g.out_places());
}
template <typename V>
std::vector<V> x_in_nchw(const std::vector<V>& x, const conv2d::Geometry& g) {
  return g.layout == conv2d::Layout::nchw
             ? x
             : channels_first(x, g.batch, g.in_channels, g.height * g.width);
}
template <typename V>
std::vector<V> weights_in_oihw(const std::vector<V>& weights, const conv2d::Geometry& g) {
  return g.layout == conv2d::Layout::nchw
             ? weights
             : channels_first(weights, g.out_channels, g.group_inputs(), g.taps());
}

// The extents of a tensor in the layout.
inline std::vector<std::int64_t> shape_in_layout(conv2d::Layout layout, std::int64_t outer,
                                                 std::int64_t channels, std::int64_t rows,
                                                 std::int64_t columns) {
  if (layout == conv2d::Layout::nchw) return {outer, channels, rows, columns};
  return {outer, rows, columns, channels};
}
inline std::vector<std::int64_t> x_shape(const conv2d::Geometry& g) {
  return shape_in_layout(g.layout, g.batch, g.in_channels, g.height, g.width);
}
inline std::vector<std::int64_t> weights_shape(const conv2d::Geometry& g) {
  return shape_in_layout(g.layout, g.out_channels, g.group_inputs(), g.vertical.kernel,
                         g.horizontal.kernel);
}
inline std::vector<std::int64_t> y_shape(const conv2d::Geometry& g) {
  return shape_in_layout(g.layout, g.batch, g.out_channels, g.out_height(), g.out_width());
}

inline std::vector<conv2d::Geometry> in_both_layouts(const std::vector<conv2d::Geometry>& some) {
  std::vector<conv2d::Geometry> all;
  for (conv2d::Geometry g : some)
    for (const conv2d::Layout layout : {conv2d::Layout::nchw, conv2d::Layout::nhwc}) {
      g.layout = layout;
      all.push_back(g);
    }
  return all;
}

// The only convolution that tests variant jit, in both layouts, since it takes a second to compile:
// strides, dilation, asymmetric padding, groups, and group outputs that fill no whole tile.
inline conv2d::Geometry compiled_geometry() {
  return {2,
          6,
          9,
          11,
          20,
          {.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 2, .dilation = 2},
          {.kernel = 4, .pad_before = 2, .pad_after = 1},
          2};
}
// For any batch.
inline bool is_compiled(const conv2d::Geometry& g) {
  conv2d::Geometry compiled = compiled_geometry();
  compiled.layout = g.layout;
  compiled.batch = g.batch;
  return g == compiled;
}

// Convolutions of every form that a kernel treats differently.
inline std::vector<conv2d::Geometry> convolutions() {
  using conv2d::Axis;
  const Axis one{};
  const Axis five{.kernel = 5, .pad_before = 2, .pad_after = 2};
  const Axis seven{.kernel = 7, .pad_before = 3, .pad_after = 3};
  const Axis three_of_two{.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  return in_both_layouts({
      {2, 8, 6, 8, 24, kThree, kThree},
      {1, 3, 15, 17, 16, three_of_two, three_of_two},
      // The first layer of many networks.
      {1, 3, 16, 15, 8, {.kernel = 7, .stride = 2, .pad_before = 3, .pad_after = 3}, kThree},
      // Kernels of one element: the matrix of columns is x, or every second element of x.
      {2, 16, 5, 8, 24, one, one},
      {2, 5, 7, 9, 8, {.stride = 2}, {.stride = 3}},
      {1, 8, 4, 5, 16, {.pad_before = 1, .pad_after = 1}, one},
      // Different padding on each side.
      {2, 4, 7, 9, 8, {.kernel = 3, .stride = 2, .pad_after = 1}, {.kernel = 4, .pad_before = 2}},
      // Dilation, with overlapping windows and with skipped columns.
      {1, 8, 9, 14, 8, {.kernel = 3, .dilation = 2}, {.kernel = 2, .stride = 3, .dilation = 5}},
      // Strides larger than the kernel; kernels larger than the input; windows of padding only.
      {2, 5, 9, 11, 7, {.kernel = 2, .stride = 4}, {.kernel = 1, .stride = 3}},
      {1,
       8,
       3,
       4,
       16,
       {.kernel = 5, .pad_before = 2, .pad_after = 2},
       {.kernel = 7, .pad_before = 3, .pad_after = 3}},
      {1, 8, 3, 9, 8, {.kernel = 2}, {.kernel = 2, .pad_before = 3, .pad_after = 4}},
      // Groups: with whole packs and less, with one channel each, with several outputs per channel.
      {2, 16, 6, 8, 32, kThree, kThree, 2},
      {1, 12, 5, 6, 8, kThree, {.kernel = 2}, 4},
      {2, 17, 6, 7, 17, kThree, kThree, 17},
      {1, 16, 7, 8, 32, three_of_two, kThree, 16},
      // Depthwise in whole packs: kernels that slide along a strip, and one that steps.
      {2, 24, 6, 9, 24, kThree, kThree, 24},
      {1, 8, 9, 8, 8, five, five, 8},
      {1, 8, 10, 7, 8, seven, seven, 8},
      {1,
       16,
       9,
       7,
       16,
       {.kernel = 3, .stride = 2, .pad_before = 1},
       {.kernel = 2, .dilation = 2},
       16},
      compiled_geometry(),
  });
}

inline bool slides_by_three(const conv2d::Geometry& g) {
  const auto slides = [](const conv2d::Axis& axis) {
    return axis.kernel == 3 && axis.stride == 1 && axis.dilation == 1;
  };
  return slides(g.vertical) && slides(g.horizontal) && g.in_channels == g.out_channels;
}

// True if rows of nchw are whole packs, and their windows read only the packs of x above and below,
// except for an element on either side.
inline bool has_rows_of_packs(Dtype dtype, const conv2d::Geometry& g) {
  return g.width % (16 / static_cast<std::int64_t>(size_of(dtype))) == 0 &&
         g.out_width() == g.width && slides_by_three(g) && g.horizontal.pad_before == 1;
}

// True if Tensor Cores are used: the image fills at least half of its tiles of 8 packs by 14 rows.
inline bool has_bands(Dtype dtype, const conv2d::Geometry& g) {
  if (dtype == Dtype::f32 || !has_rows_of_packs(dtype, g)) return false;
  const std::int64_t packs = g.width / 8, rows = g.out_height();
  return 2 * packs * rows >= (packs + 7) / 8 * 8 * ((rows + 13) / 14 * 14);
}

} // namespace kg::test
