// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation and its gradients in fp64, and the bounds of f32 kernels. Tensors are
// channel-major here: `channels` rows of all of a channel's elements, in whatever order.
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

// y = (x - mean) / sqrt(variance + epsilon) gamma + beta, and per channel the statistics of its
// elements.
struct BatchNormOracle {
  NormOracle y;
  std::vector<double> mean;
  std::vector<double> variance; // over the number of elements
};

// gamma and beta have one entry per channel, or none: 1 and 0.
BatchNormOracle batch_norm_oracle(std::span<const double> x, std::int64_t channels,
                                  std::span<const double> gamma, std::span<const double> beta,
                                  double epsilon);

// The mean and the variance alone, without y.
BatchNormOracle batch_norm_statistics(std::span<const double> x, std::int64_t channels);

// y by statistics that are given.
NormOracle batch_norm_inference_oracle(std::span<const double> x, std::span<const double> gamma,
                                       std::span<const double> beta, std::span<const double> mean,
                                       std::span<const double> variance, double epsilon);

// Bounds of y in training; a channel is a row of layer normalisation.
std::vector<double> batch_norm_tolerances(const NormOracle& oracle, Dtype output,
                                          std::int64_t chain);

// In inference the statistics are exact: variance + epsilon, root, reciprocal and product with
// gamma, difference and product are rounded once each, the first one halved by the root; then the
// sum with beta.
std::vector<double> batch_norm_inference_tolerances(const NormOracle& oracle, Dtype output);

// Bounds of a channel's statistics. The mean is wrong by what layer_norm_f32_tolerance allows it,
// in units of |mean| + deviation; a mean that is off by d adds d^2 to the variance. Squares of
// 16-bit numbers have few digits, so the roundings of their sum are no random walk: each may be of
// the same sign, u of it at most. 8 u for squares, division, epsilon, root and reciprocal.
//
// A variance that is joined from parts depends on the distances of their means, which are rounded,
// too, by u |mean| / sqrt(3) as deviation. Times twice a distance and a size that gives the sum of
// squares a deviation of 2 u |mean| deviation sqrt(count / 3) for each joining on an element's way,
// of which there are at most `chain`; six of them are 7 u |mean| / deviation sqrt(chain / count) of
// the variance.
struct StatisticsBounds {
  double mean;     // absolute
  double variance; // relative; rstd's is half of it
};
StatisticsBounds batch_norm_statistics_bounds(double mean, double variance, double epsilon,
                                              Dtype input, std::int64_t count, std::int64_t chain);

} // namespace kg::test
