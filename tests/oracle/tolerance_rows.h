// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds in f32 of operations along rows and windows, in addition to the sums and softmax of
// tolerance.h: means, log-softmax, layer and RMS normalisation, average pooling. For f16 and bf16
// outputs: stored_tolerance of these. Extrema and maximum pooling are exact.
//
// `chain` is the variant's longest sequential sum. A chain of n positive terms errs with a standard
// deviation of 0.25 u sqrt(n) of the sum (derived at softmax_f32_tolerance).
#pragma once

#include <cmath>
#include <cstdint>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// The sum's bound divided by n, and one division (or product with 1 / n) with its rounding.
inline double mean_f32_tolerance(double mean, double norm2, double mean_abs, std::int64_t length,
                                 std::int64_t chains) {
  if (length == 0) return 0; // NaN
  const auto n = static_cast<double>(length);
  return sum_f32_tolerance(mean * n, norm2, mean_abs * n, length, chains) / n +
         2 * unit_roundoff(Dtype::f32) * std::fabs(mean) + half_min_subnormal(Dtype::f32);
}

// (x - m) - log S: x - m is rounded by u distance. S errs as in softmax_f32_tolerance, 8 u and six
// standard deviations of the chain, which the logarithm turns into an absolute error; the logarithm
// itself by 1 ulp (2 u of it); the difference is rounded by u of the result. A kernel that computes
// m + log S first errs by u |m| more, which shift invariance forbids.
inline double log_softmax_f32_tolerance(double value, double distance, double log_sum,
                                        std::int64_t chain) {
  if (!std::isfinite(value)) return 0;
  return unit_roundoff(Dtype::f32) * (8 + std::fabs(value) + distance + 2 * std::fabs(log_sum) +
                                      1.5 * std::sqrt(static_cast<double>(chain)));
}

// (x - mean) / deviation gamma + beta. `normalized` is the quotient, `skew` |mean| / deviation, and
// `spread` the ratio of the deviation without epsilon to the deviation.
//
// The mean has the chain's error of a sum of size at most n (|mean| + spread): six standard
// deviations are 1.5 sqrt(chain) u (spread + skew) of the quotient. 16 covers merging the chains,
// the division, and the difference's own rounding u (|x| + |mean|). The variance is a positive sum
// as well: 1.5 sqrt(chain) u, halved by the root; 8 for squares, division, epsilon, root of 2 ulp
// and product. gamma, beta and the last addition are rounded once each.
//
// The variance must be that of centred values (two passes, or Welford's update). E[x^2] - mean^2
// loses u skew^2: at skew 100 it fails.
inline double layer_norm_f32_tolerance(double value, double normalized, double skew, double spread,
                                       double gamma, double beta, std::int64_t chain) {
  const double walk = 1.5 * std::sqrt(static_cast<double>(chain));
  return unit_roundoff(Dtype::f32) *
             (((8 + walk / 2) * std::fabs(normalized) + (16 + walk) * (spread + skew)) * gamma +
              std::fabs(value) + 2 * beta) +
         half_min_subnormal(Dtype::f32);
}

// x / sqrt(mean of x^2 + epsilon) gamma: nothing cancels. 6 u: half of squares, division, epsilon
// and merging (3 u), the root and its reciprocal (2 ulp), two products. Six standard deviations of
// a positive chain, halved by the root.
inline double rms_norm_f32_tolerance(double value, std::int64_t chain) {
  return (6 + 0.75 * std::sqrt(static_cast<double>(chain))) * unit_roundoff(Dtype::f32) *
             std::fabs(value) +
         half_min_subnormal(Dtype::f32);
}

// At most `area` additions per window, the division and its rounding: deterministic.
inline double average_pool_f32_tolerance(std::int64_t area, double mean_abs) {
  return static_cast<double>(area + 2) * unit_roundoff(Dtype::f32) * mean_abs +
         half_min_subnormal(Dtype::f32);
}

} // namespace kg::test
