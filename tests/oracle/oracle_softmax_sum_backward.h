// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of a softmax-weighted sum in fp64, and their tolerances.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_softmax_sum.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// Unrounded values, and the bounds of the values stored in `output`.
struct SoftmaxSumGradients {
  std::vector<double> dx, dx_tolerance;
  std::vector<double> dalpha, dalpha_tolerance;
};

// x is alpha.size() tensors with the size of dy, one after another.
//
// Bounds in u of f32. A weight: its argument |alpha - max|, the mean of the arguments in the sum, 9
// for the exponentials, their sum and the quotient, and one per term of the sum
// (softmax_sum_oracle). dx: the weight's error and a product. The chain of a term's sum s is at
// most its number of elements (gemm_f32_positive_tolerance). The mean of the sums has the errors of
// its products and one rounding for each; dalpha has the errors of s, mean and weight, two
// roundings of the difference and one of the product. 1 % more for products of errors. The error of
// a subnormal exponential is absolute: 2.5 times the smallest subnormal.
inline SoftmaxSumGradients softmax_sum_gradients_oracle(Dtype output, std::span<const double> x,
                                                        std::span<const double> alpha,
                                                        std::span<const double> dy) {
  const double u = 1.01 * unit_roundoff(Dtype::f32);
  const double lost = 2.5 * min_subnormal(Dtype::f32);
  const std::vector<double> weights = softmax_weights(alpha);
  const std::size_t terms = alpha.size();
  const std::size_t n = dy.size();
  const auto stored = [&](double value, double bound) {
    return std::isfinite(value) ? stored_tolerance(output, value, bound) : 0;
  };

  std::vector<double> weight_error; // relative, in u
  double largest = alpha[0];
  for (const double value : alpha) largest = std::fmax(largest, value);
  double mean_distance = 0;
  for (std::size_t k = 0; k < terms; ++k) {
    weight_error.push_back(weights[k] > 0 ? std::fabs(alpha[k] - largest) : 0);
    mean_distance += weights[k] > 0 ? weights[k] * weight_error[k] : 0;
  }
  for (double& error : weight_error) error += mean_distance + 9 + static_cast<double>(terms);

  SoftmaxSumGradients gradients;
  std::vector<double> sums(terms, 0.0), errors(terms, 0.0);
  for (std::size_t k = 0; k < terms; ++k) {
    double magnitude = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double dx = weights[k] * dy[i];
      gradients.dx.push_back(dx);
      gradients.dx_tolerance.push_back(
          stored(dx, u * (weight_error[k] + 1) * std::fabs(dx) + lost * (std::fabs(dy[i]) + 1)));
      sums[k] += dy[i] * x[k * n + i];
      magnitude += std::fabs(dy[i] * x[k * n + i]);
    }
    errors[k] = gemm_f32_positive_tolerance(static_cast<std::int64_t>(n), magnitude);
  }

  double mean = 0, mean_error = 0;
  for (std::size_t k = 0; k < terms; ++k) {
    mean += weights[k] * sums[k];
    mean_error +=
        weights[k] * errors[k] +
        u * (weight_error[k] + static_cast<double>(terms) + 1) * std::fabs(weights[k] * sums[k]) +
        lost * std::fabs(sums[k]);
  }
  for (std::size_t k = 0; k < terms; ++k) {
    const double difference = sums[k] - mean;
    const double error = errors[k] + mean_error + u * (weight_error[k] + 3) * std::fabs(difference);
    gradients.dalpha.push_back(weights[k] * difference);
    gradients.dalpha_tolerance.push_back(
        stored(gradients.dalpha[k], weights[k] * error + lost * (std::fabs(difference) + 1)));
  }
  return gradients;
}

} // namespace kg::test
