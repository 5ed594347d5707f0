// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of the softmax family, in addition to those of tolerance.h and tolerance_rows.h.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/oracle_rows.h"
#include "tests/oracle/oracle_softmax_backward.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_rows.h"

namespace kg::test {

inline std::vector<double> log_softmax_tolerances(const LogSoftmaxOracle& oracle, Dtype output,
                                                  std::int64_t chain) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.value.size(); ++i) {
    const double value = oracle.value[i];
    const double computed =
        log_softmax_f32_tolerance(value, oracle.distance[i], oracle.log_sum[i], chain);
    bounds.push_back(std::isfinite(value) ? stored_tolerance(output, value, computed) : 0);
  }
  return bounds;
}

// y (dy - S) with S = sum y dy; `weight` is |y|, `sum_abs` the sum of |y dy|.
//
// Terms of both signs: no partial sum exceeds that of the magnitudes. So a chain errs by no more
// than the chain of the magnitudes: six standard deviations of it are 1.5 sqrt(chain) u (derived at
// softmax_f32_tolerance). 8 u: rounding the products, merging the chains, and slack. The difference
// and the product with y are rounded once each, 2 u of the result. The last term is for subnormal y
// or products: 2.5 ulp as in softmax_f32_tolerance.
inline double softmax_backward_f32_tolerance(double value, double weight, double sum_abs,
                                             std::int64_t chain) {
  const double walk = 1.5 * std::sqrt(static_cast<double>(chain));
  return unit_roundoff(Dtype::f32) * ((8 + walk) * weight * sum_abs + 2 * std::fabs(value)) +
         2.5 * min_subnormal(Dtype::f32) * (1 + sum_abs);
}

// dy - exp(y) S with S = sum dy; `weight` is exp(y). As above, and 5 u for the exponential (2 ulp)
// and its product with S.
inline double log_softmax_backward_f32_tolerance(double value, double weight, double sum_abs,
                                                 std::int64_t chain) {
  return softmax_backward_f32_tolerance(value, weight, sum_abs, chain) +
         5 * unit_roundoff(Dtype::f32) * weight * sum_abs;
}

// For both forms; 0 if the value or its condition is not finite.
template <class Bound>
std::vector<double> softmax_backward_tolerances(const SoftmaxBackwardOracle& oracle, Dtype output,
                                                std::int64_t chain, Bound bound) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.value.size(); ++i) {
    const double value = oracle.value[i];
    const double computed = bound(value, oracle.weight[i], oracle.sum_abs[i], chain);
    bounds.push_back(std::isfinite(value) && std::isfinite(computed)
                         ? stored_tolerance(output, value, computed)
                         : 0);
  }
  return bounds;
}

} // namespace kg::test
