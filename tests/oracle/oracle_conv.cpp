// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_conv.h"

#include <cmath>

#include <fmt/format.h>

#include "runtime/error.h"

namespace kg::test {

namespace {

void require_conv_size(const char* what, std::span<const double> values, std::int64_t expected) {
  require(static_cast<std::int64_t>(values.size()) == expected,
          fmt::format("convolution oracle: {} elements of {}, expected {}", values.size(), what,
                      expected));
}

// The input coordinate of tap `tap` of window `window`.
std::int64_t coordinate(const PoolAxis& axis, std::int64_t window, std::int64_t tap) {
  return window * axis.stride - axis.before + tap * axis.dilation;
}

// use(element of x, element of the weights) for each tap of an output's window inside x.
template <typename Use>
void each_tap(const Convolution& c, std::int64_t image, std::int64_t output, std::int64_t row,
              std::int64_t column, Use use) {
  const std::int64_t inputs = c.in_channels / c.groups;
  const std::int64_t group = output / (c.out_channels / c.groups);
  for (std::int64_t input = 0; input < inputs; ++input)
    for (std::int64_t r = 0; r < c.vertical.kernel; ++r)
      for (std::int64_t s = 0; s < c.horizontal.kernel; ++s) {
        const std::int64_t i = coordinate(c.vertical, row, r);
        const std::int64_t j = coordinate(c.horizontal, column, s);
        if (i < 0 || i >= c.height || j < 0 || j >= c.width) continue;
        const std::int64_t plane = image * c.in_channels + group * inputs + input;
        const std::int64_t filter = (output * inputs + input) * c.vertical.kernel + r;
        use(static_cast<std::size_t>((plane * c.height + i) * c.width + j),
            static_cast<std::size_t>(filter * c.horizontal.kernel + s));
      }
}

void require_groups(const Convolution& c) {
  require(c.in_channels % c.groups == 0 && c.out_channels % c.groups == 0,
          fmt::format("convolution oracle: {} groups do not divide {} and {} channels", c.groups,
                      c.in_channels, c.out_channels));
}

} // namespace

std::int64_t Convolution::out_height() const {
  return Pooling{.planes = 1, .height = height, .width = 1, .vertical = vertical}.out_height();
}

std::int64_t Convolution::out_width() const {
  return Pooling{.planes = 1, .height = 1, .width = width, .horizontal = horizontal}.out_width();
}

ConvolutionOracle convolution_oracle(const Convolution& c, std::span<const double> x,
                                     std::span<const double> weights,
                                     std::span<const double> bias) {
  require_groups(c);
  require_conv_size("x", x, c.batch * c.in_channels * c.height * c.width);
  require_conv_size("the weights", weights, c.out_channels * c.depth());
  if (!bias.empty()) require_conv_size("the bias", bias, c.out_channels);
  const std::int64_t rows = c.out_height();
  const std::int64_t columns = c.out_width();
  ConvolutionOracle result;
  for (std::int64_t image = 0; image < c.batch; ++image)
    for (std::int64_t output = 0; output < c.out_channels; ++output)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column) {
          double sum = 0;
          double magnitude = 0;
          each_tap(c, image, output, row, column, [&](std::size_t element, std::size_t weight) {
            sum += x[element] * weights[weight];
            magnitude += std::fabs(x[element] * weights[weight]);
          });
          const double added = bias.empty() ? 0 : bias[static_cast<std::size_t>(output)];
          result.value.push_back(sum + added);
          result.condition.push_back(magnitude + std::fabs(added));
        }
  return result;
}

ConvolutionGradients convolution_gradients(const Convolution& c, std::span<const double> x,
                                           std::span<const double> weights,
                                           std::span<const double> dy) {
  require_groups(c);
  const std::int64_t rows = c.out_height();
  const std::int64_t columns = c.out_width();
  require_conv_size("x", x, c.batch * c.in_channels * c.height * c.width);
  require_conv_size("the weights", weights, c.out_channels * c.depth());
  require_conv_size("dy", dy, c.batch * c.out_channels * rows * columns);
  const auto zeros = [](std::size_t count) {
    return ConvolutionOracle{std::vector<double>(count), std::vector<double>(count)};
  };
  ConvolutionGradients result{zeros(x.size()), zeros(weights.size()),
                              zeros(static_cast<std::size_t>(c.out_channels))};
  const auto add = [](ConvolutionOracle& to, std::size_t at, double product) {
    to.value[at] += product;
    to.condition[at] += std::fabs(product);
  };
  std::size_t at = 0; // index in dy
  for (std::int64_t image = 0; image < c.batch; ++image)
    for (std::int64_t output = 0; output < c.out_channels; ++output)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t column = 0; column < columns; ++column, ++at) {
          add(result.bias, static_cast<std::size_t>(output), dy[at]);
          each_tap(c, image, output, row, column, [&](std::size_t element, std::size_t weight) {
            add(result.x, element, dy[at] * weights[weight]);
            add(result.weights, weight, dy[at] * x[element]);
          });
        }
  return result;
}

std::vector<double> product_tolerances(Dtype dtype, std::int64_t products,
                                       const ConvolutionOracle& oracle) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.value.size(); ++i) {
    const double condition = oracle.condition[i];
    bounds.push_back(!std::isfinite(condition) ? 0
                     : dtype == Dtype::f32
                         ? gemm_f32_tolerance(products, condition)
                         : gemm_xf16_tolerance(dtype, oracle.value[i], products, condition));
  }
  return bounds;
}

std::vector<double> convolution_tolerances(Dtype dtype, const Convolution& convolution,
                                           const ConvolutionOracle& oracle) {
  return product_tolerances(dtype, convolution.depth(), oracle);
}

} // namespace kg::test
