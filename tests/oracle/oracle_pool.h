// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two-dimensional pooling and its gradient.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/oracle/tolerance.h"

namespace kg::test {

// One axis: `kernel` taps, `dilation` apart, in windows `stride` apart; the first window begins
// `before` elements before the input.
struct PoolAxis {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int64_t dilation = 1;
};

// `planes` (batch times channels) dense matrices of height x width. Every window ends within the
// padded input; `ceil_mode` adds one more window if elements remain and it begins before the
// input's end.
struct Pooling {
  std::int64_t planes, height, width;
  PoolAxis vertical = {}, horizontal = {};
  bool ceil_mode = false;
  bool count_padding = false; // average: declared padding counts

  std::int64_t out_height() const;
  std::int64_t out_width() const;
};

// Dense, planes x out_height x out_width. Padding is -inf for the maximum and 0 for the average; a
// NaN in a window makes its result NaN. An empty window gives -inf or 0. `mean_abs` is the
// condition of the average.
struct PoolOracle {
  std::vector<double> value;
  std::vector<double> mean_abs;
};
PoolOracle max_pool_oracle(const Pooling& pooling, std::span<const double> x);
PoolOracle average_pool_oracle(const Pooling& pooling, std::span<const double> x);

// The gradient of x, dense, planes x height x width, from dy, the gradient of the results. A
// maximum passes dy to the first largest element of its window, where NaN is larger than any
// number; an average distributes dy equally. For each sum: its number of terms and the sum of their
// magnitudes.
struct PoolGradient {
  std::vector<double> value;
  std::vector<double> sum_abs;
  std::vector<std::int64_t> terms;
};
PoolGradient max_pool_gradient_oracle(const Pooling& pooling, std::span<const double> x,
                                      std::span<const double> dy);
PoolGradient average_pool_gradient_oracle(const Pooling& pooling, std::span<const double> dy);

// An f32 sum of `terms` shares, in any order, relative to the sum of their magnitudes: u for each
// share's division, terms - 1 for the additions that a share passes through (deterministic; Higham,
// Accuracy and Stability, 2nd ed., 4.2), and one for second-order terms.
inline double pool_gradient_f32_tolerance(std::int64_t terms, double sum_abs) {
  const auto n = static_cast<double>(terms);
  return (n + 1) * unit_roundoff(Dtype::f32) * sum_abs + n * half_min_subnormal(Dtype::f32);
}

} // namespace kg::test
