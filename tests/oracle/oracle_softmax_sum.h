// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The softmax-weighted sum of tensors in fp64, and its tolerances.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// exp(alpha - max) / sum. A NaN, +inf, or -inf only makes all weights NaN.
inline std::vector<double> softmax_weights(std::span<const double> alpha) {
  double largest = alpha[0];
  for (const double value : alpha) largest = std::fmax(largest, value);
  std::vector<double> weights;
  double sum = 0;
  for (const double value : alpha) {
    weights.push_back(std::exp(value - largest));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// One unrounded value per element; its tolerance in f32 before the result is stored.
struct SoftmaxSumOracle {
  std::vector<double> value;
  std::vector<double> tolerance;
};

// x is terms = alpha.size() tensors, one after another. Results are stored in `output`.
//
// The tolerance, in u of f32: a weight's argument alpha - max is rounded once, |d|, and its
// exponential errs by 2 ulp, 4. The sum of the exponentials has the mean of both, sum w |d| + 4,
// and `terms` roundings; the quotient 1; the sum of the products `terms` roundings. 1 % more for
// products of errors. The error of a subnormal exponential is absolute: 2.5 times the smallest
// subnormal.
inline SoftmaxSumOracle softmax_sum_oracle(Dtype output, std::span<const double> x,
                                           std::span<const double> alpha) {
  const std::vector<double> weights = softmax_weights(alpha);
  const std::size_t terms = alpha.size();
  const std::size_t n = x.size() / terms;
  const double largest = *std::max_element(alpha.begin(), alpha.end());
  double mean_distance = 0;
  for (std::size_t k = 0; k < terms; ++k)
    if (weights[k] > 0) mean_distance += weights[k] * std::fabs(alpha[k] - largest);
  SoftmaxSumOracle oracle;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    double error = 0;
    double lost = 0;
    for (std::size_t k = 0; k < terms; ++k) {
      const double product = weights[k] * x[k * n + i];
      const double distance = weights[k] > 0 ? std::fabs(alpha[k] - largest) : 0;
      sum += product;
      error += std::fabs(product) * (distance + mean_distance + 9 + 2 * static_cast<double>(terms));
      lost += 2.5 * min_subnormal(Dtype::f32) * (std::fabs(x[k * n + i]) + 1);
    }
    const double bound = 1.01 * unit_roundoff(Dtype::f32) * error + lost;
    oracle.value.push_back(sum);
    oracle.tolerance.push_back(std::isfinite(sum) ? stored_tolerance(output, sum, bound) : 0);
  }
  return oracle;
}

} // namespace kg::test
