// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Pooling over windows of two dimensions, and its gradient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/oracle/tolerance.h"

namespace kg::test {

// Along one axis: `kernel` taps, `dilation` apart, in windows that begin `stride` apart, the first
// of them `before` elements in front of the input.
struct PoolAxis {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int64_t dilation = 1;
};

// `planes` (batch times channels) dense matrices of height x width. The windows are those that end
// within the padded input; with `ceil_mode` there is one more where elements remain behind them and
// it begins in front of the input's end.
struct Pooling {
  std::int64_t planes, height, width;
  PoolAxis vertical = {}, horizontal = {};
  bool ceil_mode = false;
  bool count_padding = false; // average: padding that was declared counts, too

  std::int64_t out_height() const;
  std::int64_t out_width() const;
};

// Dense, planes x out_height x out_width. Padding is -inf to the maximum and 0 to the average; a
// NaN in a window makes its result NaN. A window without elements is -inf or 0. `mean_abs` is the
// condition of the average.
struct PoolOracle {
  std::vector<double> value;
  std::vector<double> mean_abs;
};
PoolOracle max_pool_oracle(const Pooling& pooling, std::span<const double> x);
PoolOracle average_pool_oracle(const Pooling& pooling, std::span<const double> x);

// The gradient in x, dense, planes x height x width, from dy, the gradient in the results. A
// maximum hands dy to its window's first largest element, a NaN being larger than any number; an
// average hands each of its elements an equal share. Of each sum: how many terms it has, and the
// sum of their absolute values.
struct PoolGradient {
  std::vector<double> value;
  std::vector<double> sum_abs;
  std::vector<std::int64_t> terms;
};
PoolGradient max_pool_gradient_oracle(const Pooling& pooling, std::span<const double> x,
                                      std::span<const double> dy);
PoolGradient average_pool_gradient_oracle(const Pooling& pooling, std::span<const double> dy);

// A sum of `terms` shares in f32, in any order, each rounded by its division: u for that and terms
// - 1 more for the additions that a share passes through, of the sum of their absolute values
// (deterministic; Higham, Accuracy and Stability, 2nd ed., 4.2), and one for terms of second order.
inline double pool_gradient_f32_tolerance(std::int64_t terms, double sum_abs) {
  const auto n = static_cast<double>(terms);
  return (n + 1) * unit_roundoff(Dtype::f32) * sum_abs + n * half_min_subnormal(Dtype::f32);
}

} // namespace kg::test
