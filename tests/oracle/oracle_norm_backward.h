// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of layer and RMS normalisation in fp64, and the bounds of an f32 kernel. Like a
// kernel, the oracle uses the rows' statistics as they were stored: their error belongs to the
// forward pass, and the gradients are linear in dy.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// With n = (x - mean) rstd and g = dy gamma, sums over a row of `columns` elements:
//   dx = rstd (g - mean(g) - n mean(g n)); for rms, mean = 0 and without mean(g)
//   dgamma = sum over rows of dy n; dbeta = sum over rows of dy
// Each gradient is followed by the units of its error.
struct NormBackwardOracle {
  std::vector<double> dx;
  std::vector<double> direct;     // rstd |g|
  std::vector<double> average;    // rstd mean |g|; 0 for rms
  std::vector<double> projection; // rstd |n| mean |g n|
  std::vector<double> dgamma;
  std::vector<double> dgamma_abs; // sum |dy n|
  std::vector<double> dbeta;
  std::vector<double> dbeta_abs; // sum |dy|
};

// dy and x are dense rows x columns; gamma has one entry per column, or is empty: 1. `mean` and
// `rstd` have one entry per row; an empty `mean` selects RMS normalisation.
NormBackwardOracle norm_backward_oracle(std::span<const double> dy, std::span<const double> x,
                                        std::int64_t rows, std::int64_t columns,
                                        std::span<const double> gamma, std::span<const double> mean,
                                        std::span<const double> rstd);

// dx in f32; `chain` is the longest sequential sum along a row.
//
// g is rounded once, and n twice (difference and product). Neither sum needs to have zero mean, so
// each errs by 8 + 2 sqrt(chain) of the sum of magnitudes (gemm_f32_positive_tolerance; the 8
// covers the roundings of the terms, the division or reciprocal and product, and the merging of the
// chains). Three more differences or products, and the product with rstd: 4 more for each part, and
// 2 for n.
inline double norm_backward_dx_f32_tolerance(double direct, double average, double projection,
                                             std::int64_t chain) {
  const double sum = 8 + 2 * std::sqrt(static_cast<double>(chain));
  return unit_roundoff(Dtype::f32) * (5 * direct + (sum + 4) * average + (sum + 6) * projection) +
         half_min_subnormal(Dtype::f32);
}

// dgamma and dbeta in f32: `chain` is the longest sequential sum down a column, `sum_abs` the sum
// of the terms' magnitudes. A term of dgamma is rounded three times, which the bound's 8 covers.
inline double norm_backward_column_f32_tolerance(double sum_abs, std::int64_t chain) {
  return gemm_f32_positive_tolerance(chain, sum_abs);
}

// The same for complete results, stored in `output`; 0 if the value is not finite.
inline std::vector<double> norm_backward_dx_tolerances(const NormBackwardOracle& oracle,
                                                       Dtype output, std::int64_t chain) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.dx.size(); ++i)
    bounds.push_back(
        std::isfinite(oracle.dx[i])
            ? stored_tolerance(output, oracle.dx[i],
                               norm_backward_dx_f32_tolerance(oracle.direct[i], oracle.average[i],
                                                              oracle.projection[i], chain))
            : 0);
  return bounds;
}

inline std::vector<double> norm_backward_column_tolerances(std::span<const double> sums,
                                                           std::span<const double> sums_abs,
                                                           Dtype output, std::int64_t chain) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < sums.size(); ++i)
    bounds.push_back(std::isfinite(sums[i])
                         ? stored_tolerance(output, sums[i],
                                            norm_backward_column_f32_tolerance(sums_abs[i], chain))
                         : 0);
  return bounds;
}

} // namespace kg::test
