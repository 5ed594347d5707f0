// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Depthwise-separable convolutions, as in MobileNets (Howard et al., arXiv 1704.04861): a depthwise
// convolution, then a 1x1 convolution of its stored result, both without biases. Ours and the
// libraries' are chains of two calls. An example is separable_nhwc_n32_c64_h112_w112_o128_k3_s2_p1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/ops/conv2d/convolutions.h"
#include "tests/ops/conv2d/elements.h"
#include "tests/oracle/oracle_conv.h"

namespace kg::card {

struct Separable {
  conv2d::Geometry depthwise, pointwise; // pointwise reads the y of depthwise
};
inline Separable separable(const conv2d::Geometry& depthwise, std::int64_t out_channels) {
  return {depthwise,
          {.batch = depthwise.batch,
           .in_channels = depthwise.out_channels,
           .height = depthwise.out_height(),
           .width = depthwise.out_width(),
           .out_channels = out_channels,
           .layout = depthwise.layout}};
}

// y in exact arithmetic, and its tolerance. An error of the first convolution, at most its own
// tolerance, is multiplied by the second one's weights. The second one adds its own tolerance, for
// inputs larger by that error. `passed_on`: magnitudes of those weights times the first tolerances.
struct ChainOracle {
  std::vector<double> value, tolerance;
};
inline ChainOracle with_tolerances(Dtype dtype, std::int64_t channels, test::ConvolutionOracle y,
                                   const std::vector<double>& passed_on) {
  ChainOracle result{y.value, {}};
  for (std::size_t i = 0; i < passed_on.size(); ++i) {
    y.value[i] = std::fabs(y.value[i]) + passed_on[i];
    y.condition[i] += passed_on[i];
  }
  result.tolerance = test::product_tolerances(dtype, channels, y);
  for (std::size_t i = 0; i < passed_on.size(); ++i) result.tolerance[i] += passed_on[i];
  return result;
}

// All of y, in nchw like the arguments.
inline ChainOracle chain_oracle(Dtype dtype, const Separable& s, const std::vector<double>& x,
                                const std::vector<double>& filters,
                                const std::vector<double>& mixing) {
  const test::Convolution first = test::oracle_problem(s.depthwise);
  const test::Convolution second = test::oracle_problem(s.pointwise);
  const auto between = test::convolution_oracle(first, x, filters, {});
  std::vector<double> magnitudes;
  for (const double weight : mixing) magnitudes.push_back(std::fabs(weight));
  const std::vector<double> passed_on =
      test::convolution_oracle(second, test::convolution_tolerances(dtype, first, between),
                               magnitudes, {})
          .value;
  return with_tolerances(dtype, second.depth(),
                         test::convolution_oracle(second, between.value, mixing, {}), passed_on);
}

// Elements [first, first + count) of y, in the layout.
inline ChainOracle chain_elements(Dtype dtype, const Separable& s, const Elements& x,
                                  const Elements& filters, const Elements& mixing,
                                  std::int64_t first, std::int64_t count) {
  const std::int64_t channels = s.pointwise.in_channels;
  test::ConvolutionOracle y;
  std::vector<double> passed_on;
  for (std::int64_t i = first; i < first + count; ++i) {
    const Images::Element at = images_of_y(s.pointwise).at(i);
    Sum sum;
    double passed = 0;
    for (std::int64_t c = 0; c < channels; ++c) {
      const Sum between = products_of_y(s.depthwise, x, filters, {at.outer, c, at.row, at.column});
      const double weight = mixing(at.channel * channels + c);
      sum.add(weight * between.value);
      passed +=
          std::fabs(weight) * test::product_tolerances(dtype, s.depthwise.taps(),
                                                       {{between.value}, {between.condition}})[0];
    }
    y.value.push_back(sum.value);
    y.condition.push_back(sum.condition);
    passed_on.push_back(passed);
  }
  return with_tolerances(dtype, channels, y, passed_on);
}

} // namespace kg::card
