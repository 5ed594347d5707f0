// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation in fp64, and the bounds of f32 kernels. Tensors are channel-major here:
// `channels` rows, each with all elements of a channel in any order.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/oracle_norm_backward.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/tolerance_rows.h"

namespace kg::test {

// y = (x - mean) / sqrt(variance + epsilon) gamma + beta, and the statistics of each channel's
// elements.
struct BatchNormOracle {
  NormOracle y;
  std::vector<double> mean;
  std::vector<double> variance; // divided by the number of elements
};

// gamma and beta have one entry per channel, or are empty: 1 and 0.
BatchNormOracle batch_norm_oracle(std::span<const double> x, std::int64_t channels,
                                  std::span<const double> gamma, std::span<const double> beta,
                                  double epsilon);

// Only the mean and the variance, without y.
BatchNormOracle batch_norm_statistics(std::span<const double> x, std::int64_t channels);

// y with given statistics.
NormOracle batch_norm_inference_oracle(std::span<const double> x, std::span<const double> gamma,
                                       std::span<const double> beta, std::span<const double> mean,
                                       std::span<const double> variance, double epsilon);

// Bounds of y in training; a channel corresponds to a row of layer normalisation.
std::vector<double> batch_norm_tolerances(const NormOracle& oracle, Dtype output,
                                          std::int64_t chain);

// In inference the statistics are exact. Rounded once each: variance + epsilon (halved by the
// root), root, reciprocal, product with gamma, difference, product, and the sum with beta.
std::vector<double> batch_norm_inference_tolerances(const NormOracle& oracle, Dtype output);

// Bounds of a channel's statistics. The mean's error is that of layer_norm_f32_tolerance, in units
// of |mean| + deviation; a mean that is off by d adds d^2 to the variance. Squares of 16-bit
// numbers have few digits, so the roundings of their sum are not a random walk: all may have the
// same sign, at most u each. 8 u for squares, division, epsilon, root and reciprocal.
//
// A variance merged from parts depends on the distances between their means, which are rounded: a
// standard deviation of u |mean| / sqrt(3). A merge multiplies it by twice a distance and a size,
// which gives 2 u |mean| deviation sqrt(count / 3) in the sum of squares. An element passes through
// at most `chain` merges, so six standard deviations are 7 u |mean| / deviation sqrt(chain / count)
// of the variance.
struct StatisticsBounds {
  double mean;     // absolute
  double variance; // relative; rstd has half of it
};
StatisticsBounds batch_norm_statistics_bounds(double mean, double variance, double epsilon,
                                              Dtype input, std::int64_t count, std::int64_t chain);

} // namespace kg::test
