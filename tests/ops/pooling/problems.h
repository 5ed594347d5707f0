// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The pooling problems on which both directions are tested, and their conversion for the oracle,
// which only knows dense planes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/pooling/problem.h"
#include "tests/oracle/image_layout.h"
#include "tests/oracle/oracle_pool.h"

namespace kg::test {

inline Pooling oracle_problem(pooling::Kind kind, const pooling::Problem& p) {
  const auto axis = [](const pooling::Axis& a) {
    return PoolAxis{a.kernel, a.stride, a.pad_before, a.pad_after, a.dilation};
  };
  return {p.batch * p.channels,
          p.height,
          p.width,
          axis(p.vertical),
          axis(p.horizontal),
          p.ceil_mode,
          kind == pooling::Kind::average_include_padding};
}

// nhwc_n2_c3_h5_w7_k2x3_s1x1_p0.1x1.1_d1x1, as used in a case id.
inline std::string text(const pooling::Problem& p) {
  const auto both = [](const char* key, auto vertical, auto horizontal) {
    return std::string("_") + key + vertical + "x" + horizontal;
  };
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const pooling::Axis& v = p.vertical;
  const pooling::Axis& h = p.horizontal;
  return std::string(name(p.layout)) + "_n" + number(p.batch) + "_c" + number(p.channels) + "_h" +
         number(p.height) + "_w" + number(p.width) + both("k", number(v.kernel), number(h.kernel)) +
         both("s", number(v.stride), number(h.stride)) +
         both("p", number(v.pad_before) + "." + number(v.pad_after),
              number(h.pad_before) + "." + number(h.pad_after)) +
         both("d", number(v.dilation), number(h.dilation)) + (p.ceil_mode ? "_ceil" : "");
}

// From the oracle's nchw to the problem's layout. `height` and `width` are those of x or of y.
template <typename V>
std::vector<V> in_layout(const std::vector<V>& nchw, const pooling::Problem& p, std::int64_t height,
                         std::int64_t width) {
  if (p.layout == pooling::Layout::nchw) return nchw;
  return channels_last(nchw, p.batch, p.channels, height * width);
}

// The inverse.
template <typename V>
std::vector<V> in_nchw(const std::vector<V>& values, const pooling::Problem& p, std::int64_t height,
                       std::int64_t width) {
  if (p.layout == pooling::Layout::nchw) return values;
  return channels_first(values, p.batch, p.channels, height * width);
}

template <typename V>
std::vector<V> x_in_nchw(const std::vector<V>& x, const pooling::Problem& p) {
  return in_nchw(x, p, p.height, p.width);
}
template <typename V>
std::vector<V> y_in_nchw(const std::vector<V>& y, const pooling::Problem& p) {
  return in_nchw(y, p, p.out_height(), p.out_width());
}
template <typename V>
std::vector<V> x_in_layout(const std::vector<V>& nchw, const pooling::Problem& p) {
  return in_layout(nchw, p, p.height, p.width);
}
template <typename V>
std::vector<V> y_in_layout(const std::vector<V>& nchw, const pooling::Problem& p) {
  return in_layout(nchw, p, p.out_height(), p.out_width());
}

// The four extents, in the problem's layout, for comparing results.
inline std::vector<std::int64_t> shape_in_layout(const pooling::Problem& p, std::int64_t height,
                                                 std::int64_t width) {
  if (p.layout == pooling::Layout::nchw) return {p.batch, p.channels, height, width};
  return {p.batch, height, width, p.channels};
}

inline std::vector<pooling::Problem> in_both_layouts(const std::vector<pooling::Problem>& some) {
  std::vector<pooling::Problem> all;
  for (pooling::Problem p : some)
    for (const pooling::Layout layout : {pooling::Layout::nchw, pooling::Layout::nhwc}) {
      p.layout = layout;
      all.push_back(p);
    }
  return all;
}

// Windows of every form that a kernel treats differently, each with an element of the input. 16
// channels are whole packs of every type; 3 and 5 are not.
inline std::vector<pooling::Problem> window_problems() {
  using pooling::Axis;
  const Axis half{.kernel = 2, .stride = 2};
  const Axis three{.kernel = 3, .pad_before = 1, .pad_after = 1};
  const Axis three_of_two{.kernel = 3, .stride = 2, .pad_before = 1, .pad_after = 1};
  return in_both_layouts({
      {2, 16, 8, 10, half, half},
      {2, 16, 9, 11, three, three},
      {1, 16, 12, 13, three_of_two, three_of_two},
      {1, 16, 12, 13, three_of_two, three_of_two, true},
      // Rows of whole packs.
      {1, 2, 7, 32, half, half},
      {1, 2, 9, 24, three, three},
      {1, 2, 11, 32, three_of_two, three_of_two, true},
      {1, 2, 8, 16, {.kernel = 3, .stride = 2, .pad_before = 1}, {.kernel = 3, .stride = 2}},
      // Whole packs only in y; in both, with windows that begin at pack boundaries.
      {1, 2, 5, 33, three_of_two, {.kernel = 3, .stride = 2, .pad_before = 1}},
      {1, 2, 5, 16, three_of_two, {.kernel = 3, .stride = 2, .pad_after = 1}},
      // One more window, including undeclared padding; and a window that would begin after the
      // input.
      {2, 5, 7, 9, {.kernel = 3, .stride = 2}, {.kernel = 2, .stride = 3}, true},
      {1, 5, 5, 8, {.kernel = 2, .stride = 3, .pad_before = 1, .pad_after = 1}, half, true},
      // Different padding on each side.
      {1, 16, 6, 16, {.kernel = 3, .pad_before = 2}, {.kernel = 3, .pad_after = 2}},
      {2, 16, 7, 9, {.kernel = 3, .stride = 2, .pad_after = 1}, {.kernel = 4, .pad_before = 2}},
      // Dilation, with overlapping windows and with skipped columns, and padding.
      {1, 16, 9, 14, {.kernel = 3, .dilation = 2}, {.kernel = 2, .stride = 3, .dilation = 5}},
      {2,
       3,
       8,
       9,
       {.kernel = 2, .pad_before = 2, .pad_after = 1, .dilation = 3},
       {.kernel = 3, .stride = 2, .pad_before = 3, .pad_after = 3, .dilation = 2}},
      // Strides larger than the kernel; kernels larger than the input; long and thin kernels.
      {2, 16, 9, 11, {.kernel = 2, .stride = 4}, {.kernel = 1, .stride = 3}},
      {2,
       16,
       3,
       4,
       {.kernel = 5, .pad_before = 2, .pad_after = 2},
       {.kernel = 7, .pad_before = 3, .pad_after = 3}},
      {2, 5, 6, 40, {}, {.kernel = 9, .pad_before = 4, .pad_after = 4}},
      {2, 5, 40, 6, {.kernel = 9, .pad_before = 4, .pad_after = 4}, {}},
      // Global pooling.
      {3, 16, 7, 7, {.kernel = 7}, {.kernel = 7}},
      {3, 5, 4, 9, {.kernel = 4}, {.kernel = 9}},
      {2, 5, 1, 3, {}, {.kernel = 3}}, // several planes in a pack
  });
}

// Some windows of only padding before, after and around the input; few enough that no 16x16 tile of
// the results is zero.
inline std::vector<pooling::Problem> padding_problems() {
  std::vector<pooling::Problem> problems = in_both_layouts({
      {2, 16, 3, 9, {.kernel = 2}, {.kernel = 2, .pad_before = 3, .pad_after = 4}},
      {2, 16, 3, 9, {}, {.kernel = 3, .stride = 2, .pad_before = 6, .pad_after = 5}},
      {2, 5, 3, 9, {}, {.kernel = 2, .pad_before = 3, .pad_after = 4, .dilation = 2}},
      {2, 16, 5, 9, {.kernel = 3, .stride = 2}, {.kernel = 3, .stride = 2, .pad_before = 3}},
      {2, 16, 5, 9, {.kernel = 3, .stride = 2}, {.kernel = 3, .stride = 2, .pad_after = 4}},
  });
  problems.push_back({2, 5, 9, 3, {.kernel = 2, .pad_before = 3, .pad_after = 4}, {.kernel = 2}});
  // Taps on both sides of an input that lies between them.
  problems.push_back({2, 5, 2, 9, {.kernel = 2, .pad_before = 3, .pad_after = 4, .dilation = 4}});
  return problems;
}

} // namespace kg::test
