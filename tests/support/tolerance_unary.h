// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of activations in f32, as tolerance.h has them for sums. For f16 and bf16 outputs:
// stored_tolerance of these. relu is exact and has none.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/dtype.h"
#include "tests/support/numbers.h"
#include "tests/support/oracle_unary.h"

namespace kg::test {

// sigmoid, silu, tanh: an exponential of 2 ulp (4 u), an addition, a division and a product of one
// rounding each, in all 7 u of y at most; 8 u. The largest seen in f32 is 2.9 u. An argument of the
// exponential that was rounded after a multiplication by log2(e) errs by u |x|, beyond the bound
// from |x| = 8 on; tanh.approx (2^-11) is 1000 times beyond it. 1 / (1 + e^-x) is no legal form
// below -88.7, where e^-x is infinite though silu is a normal number: use e^x / (1 + e^x) there.
// An exponential that is subnormal is 2 ulp of absolute error off, times `factor` (|x| for silu,
// else 1), and the result's own rounding half of one.
inline double gated_f32_tolerance(double y, double factor) {
  constexpr double kSubnormalUlps = 2.5;
  return 8 * unit_roundoff(Dtype::f32) * std::fabs(y) +
         kSubnormalUlps * std::max(factor, 1.0) * min_subnormal(Dtype::f32);
}

// gelu, both forms. 1 + erf(x / sqrt(2)) cancels in the left tail: erf is rounded by u / 2 there,
// so that x times the difference errs by u |x| however small y is. 4 u max(|x|, |y|): erf or tanh
// of 2 ulp (2 u in the left tail, where they are below 1), the addition and two products. The
// largest seen is 1.7. Where the sign is wrong, the bound alone does not see it in the tail: see
// gelu_sign.
inline double gelu_f32_tolerance(double x, double y) {
  return 4 * unit_roundoff(Dtype::f32) * std::max(std::fabs(x), std::fabs(y)) +
         min_subnormal(Dtype::f32);
}

// gelu never has the sign opposite to x; zeros are free.
inline bool gelu_sign(double x, double y) { return y == 0 || std::signbit(x) == std::signbit(y); }

// Of one element in the operation's own terms, x and y = unary_oracle. 0 where y is not finite.
inline double unary_f32_tolerance(UnaryOp op, double x, double y) {
  if (op == UnaryOp::relu || !std::isfinite(y)) return 0;
  if (op == UnaryOp::gelu || op == UnaryOp::gelu_tanh)
    return std::isfinite(x) ? gelu_f32_tolerance(x, y) : 0;
  return gated_f32_tolerance(y, op == UnaryOp::silu && std::isfinite(x) ? std::fabs(x) : 1);
}

} // namespace kg::test
