// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of cross entropy and its gradient in f32.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_cross_entropy.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// The logarithm of the sum of exp(x - m); `chain` is the variant's longest sequential sum.
//
// The sum's relative error is the logarithm's absolute error. 8 u and 1.5 sqrt(chain) u:
// exponentials of 2 ulp, merging the chains, and six standard deviations of a chain of positive
// terms (softmax_f32_tolerance). A running maximum rescales the sum at most once in 16 additions,
// by an exponential with a standard deviation of 1.2 u: six of these are 1.8 sqrt(chain) u, and
// both together 2.4 sqrt(chain) u. A term's exponent is off by u of m - x from the difference, and
// as much from its product with log2(e), whose own rounding is 0.22 u: 2.25 u of `spread`, the mean
// of m - x. The logarithm itself is off by 1 ulp, 2 u of its value.
inline double log_of_sum_f32_tolerance(double log_of_sum, double spread, std::int64_t chain) {
  return unit_roundoff(Dtype::f32) * (8 + 2.4 * std::sqrt(static_cast<double>(chain)) +
                                      2.25 * spread + 2 * std::fabs(log_of_sum));
}

// lse: adds the maximum and one rounding.
inline double log_sum_exp_f32_tolerance(double log_sum, double log_of_sum, double spread,
                                        std::int64_t chain) {
  return log_of_sum_f32_tolerance(log_of_sum, spread, chain) +
         unit_roundoff(Dtype::f32) * std::fabs(log_sum);
}

// For row i: the logarithm's error; the rounding of m - x and of each of the three sums in the
// loss, none larger than the sum of their terms' magnitudes. With smoothing, the mean of x - x of
// the target: differences are rounded, a sum of both signs errs like one of magnitudes
// (softmax_backward_f32_tolerance), a class' weight and its product are rounded: 12 u. The z-loss
// doubles the relative error of lse, and is rounded three times.
inline double cross_entropy_f32_tolerance(const CrossEntropyProblem& problem,
                                          const CrossEntropyOracle& oracle, std::size_t i,
                                          std::int64_t chain) {
  const double u = unit_roundoff(Dtype::f32);
  const double log_sum = std::fabs(oracle.log_sum[i]);
  const double of_log = log_of_sum_f32_tolerance(oracle.log_of_sum[i], oracle.spread[i], chain);
  const double smoothed =
      problem.label_smoothing > 0 ? problem.label_smoothing * oracle.apart[i] : 0;
  const double z = problem.z_loss * log_sum * log_sum;
  const double terms = std::fabs(oracle.log_of_sum[i]) + oracle.distance[i] + smoothed + z;
  return of_log + u * (oracle.distance[i] + 3 * terms) +
         u * (12 + 1.5 * std::sqrt(static_cast<double>(chain))) * smoothed +
         2 * problem.z_loss * log_sum * (of_log + u * log_sum) + 3 * u * z;
}

// For element i. x - lse is rounded by u distance, which the exponential turns into a relative
// error. 6 u for the exponential (2 ulp), the factor of the z-loss and the product. The weight is a
// constant that is rounded once; then the difference and the product with dloss are rounded. A
// subnormal exponential has an absolute error of 2 ulp, and the result one of half an ulp.
inline double cross_entropy_backward_f32_tolerance(const CrossEntropyBackwardOracle& oracle,
                                                   std::size_t i) {
  if (oracle.scale[i] == 0) return 0;
  const double u = unit_roundoff(Dtype::f32);
  const double exponential =
      oracle.probability[i] == 0 ? 0 : (6 + oracle.distance[i]) * oracle.probability[i];
  return u * (exponential + oracle.weight[i] + 2 * std::fabs(oracle.value[i])) +
         min_subnormal(Dtype::f32) * (2 * oracle.scale[i] + 0.5);
}

// 0 if the value is not finite or the row is ignored.
inline std::vector<double> cross_entropy_tolerances(const CrossEntropyProblem& problem,
                                                    const CrossEntropyOracle& oracle,
                                                    std::int64_t chain) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.loss.size(); ++i)
    bounds.push_back(oracle.counts[i] && std::isfinite(oracle.loss[i])
                         ? cross_entropy_f32_tolerance(problem, oracle, i, chain)
                         : 0);
  return bounds;
}

inline std::vector<double> log_sum_exp_tolerances(const CrossEntropyOracle& oracle,
                                                  std::int64_t chain) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.log_sum.size(); ++i)
    bounds.push_back(oracle.counts[i] && std::isfinite(oracle.log_sum[i])
                         ? log_sum_exp_f32_tolerance(oracle.log_sum[i], oracle.log_of_sum[i],
                                                     oracle.spread[i], chain)
                         : 0);
  return bounds;
}

inline std::vector<double>
cross_entropy_backward_tolerances(const CrossEntropyBackwardOracle& oracle, Dtype output) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.value.size(); ++i)
    bounds.push_back(std::isfinite(oracle.value[i])
                         ? stored_tolerance(output, oracle.value[i],
                                            cross_entropy_backward_f32_tolerance(oracle, i))
                         : 0);
  return bounds;
}

} // namespace kg::test
