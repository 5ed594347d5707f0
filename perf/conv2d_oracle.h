// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What single elements of a convolution's result should be, for cases whose whole result would take
// an oracle minutes.
#pragma once

#include "perf/conv2d_case.h"
#include "perf/measure/random_data.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance.h"

#include <cstdint>
#include <vector>

namespace kg::perf {

// A value in exact arithmetic, and the sum of the magnitudes that it is made of.
struct Element {
  double value, condition;
};

// Where an element of a tensor of images x channels x places lies.
struct ImagePlace {
  std::int64_t image, channel, place;
};
inline ImagePlace image_place(conv2d::Layout layout, std::int64_t channels, std::int64_t places,
                              std::int64_t index) {
  const bool last = layout == conv2d::Layout::nhwc;
  return {index / (channels * places), (last ? index : index / places) % channels,
          (last ? index / channels : index) % places};
}
inline std::int64_t index_of(conv2d::Layout layout, std::int64_t channels, std::int64_t places,
                             const ImagePlace& at) {
  return layout == conv2d::Layout::nhwc ? (at.image * places + at.place) * channels + at.channel
                                        : (at.image * channels + at.channel) * places + at.place;
}

// An element of y: the dot product of its window and filter, plus the bias.
template <class T>
Element element_of_y(const conv2d::Geometry& g, const RandomData<T>& x,
                     const RandomData<T>& weights, double bias, const ImagePlace& at) {
  const std::int64_t first = at.channel / g.group_outputs() * g.group_inputs();
  std::vector<double> window, filter;
  for (std::int64_t c = 0; c < g.group_inputs(); ++c)
    for (std::int64_t tap = 0; tap < g.taps(); ++tap) {
      const std::int64_t row =
          coordinate(g.vertical, at.place / g.out_width(), tap / g.horizontal.kernel);
      const std::int64_t column =
          coordinate(g.horizontal, at.place % g.out_width(), tap % g.horizontal.kernel);
      if (row < 0 || row >= g.height || column < 0 || column >= g.width) continue;
      const ImagePlace of_x{at.image, first + c, row * g.width + column};
      const ImagePlace of_filter{at.channel, c, tap};
      window.push_back(
          static_cast<double>(x.at(index_of(g.layout, g.in_channels, g.height * g.width, of_x))));
      filter.push_back(static_cast<double>(
          weights.at(index_of(g.layout, g.group_inputs(), g.taps(), of_filter))));
    }
  const auto products = static_cast<std::int64_t>(window.size());
  const test::GemmOracle sum =
      test::gemm_oracle({test::contiguous({1, products}), test::contiguous({products, 1}),
                         test::contiguous({1, 1}), 1, 1},
                        filter, window, std::vector<double>{bias});
  return {sum.value[0], sum.condition[0]};
}

// The bound of conv2d_test.cu for a sum of `depth` products.
inline double product_tolerance(Dtype dtype, std::int64_t depth, const Element& element) {
  return dtype == Dtype::f32
             ? test::gemm_f32_tolerance(depth, element.condition)
             : test::gemm_xf16_tolerance(dtype, element.value, depth, element.condition);
}

} // namespace kg::perf
