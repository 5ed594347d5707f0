// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of activations in f32, like those of tolerance.h for sums. For f16 and bf16 outputs:
// stored_tolerance of these. relu is exact. The errors of expf and exp2f (2 ulp), tanhf (2), erff
// (2) and of a reciprocal (1) are those stated in the CUDA C++ Programming Guide; 1 ulp is at most
// 2 u.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

inline bool has_gate(activation::Function op) {
  return op == activation::Function::silu || op == activation::Function::gelu ||
         op == activation::Function::gelu_tanh;
}

// The loss of a factor that vanishes exponentially: where it is subnormal, the exponential's error
// of 2 ulp is absolute, and the factor's own rounding adds half an ulp. Below 2^-160, far less than
// half the smallest subnormal, every f32 function returns 0.
inline double tail_loss(double factor) {
  constexpr double kSubnormalUlps = 2.5;
  constexpr double kVanished = 0x1p-160;
  return factor < kVanished ? factor : kSubnormalUlps * min_subnormal(Dtype::f32);
}

// The change of the result for a relative error of 1 in a gate's argument: x^2 gate'(x).
inline double argument_condition(activation::Function op, double x) {
  return has_gate(op) && std::isfinite(x) ? x * x * gate_oracle(op, x).slope : 0;
}

// The extra error of the short forms of gelu and gelu_tanh, used for results stored in 16 bits,
// relative to the gate and to its derivative. gelu: the polynomial 4.7e-6, and 13 u of roundings, 9
// of them of the exponential, which is a square; the long form has 8.7 u for polynomial, argument
// and exponential. gelu_tanh: the exponential is a square, 9 u instead of 4; the derivative has two
// reciprocals of 2 u each and their product instead of a division of 1 u; 10 u.
inline double short_gelu_error(activation::Function op, Dtype stored) {
  if (size_of(stored) >= size_of(Dtype::f32)) return 0;
  if (op == activation::Function::gelu_tanh) return 10 * unit_roundoff(Dtype::f32);
  return op == activation::Function::gelu ? 5.2e-6 : 0;
}

// For one element, where x and y = unary_oracle are the operation's values and the result is stored
// as `stored`. 0 if x or y is not finite.
//
// sigmoid, silu, tanh: an exponential (4 u), and an addition, a division and a product of one
// rounding each: at most 7 u of y; 8 u. The largest error seen in f32 is 2.9 u. An exponential's
// argument that was rounded after a multiplication by log2(e) errs by u |x|, which fails from |x| =
// 8 on; tanh.approx (2^-11) exceeds the bound 1000 times. 1 / (1 + e^-x) is not a legal form below
// -88.7, where e^-x is infinite but silu is normal: use e^x / (1 + e^x) there.
//
// gelu: the exponential 4 u, the polynomial 2 u; the error of its argument t, rounded once and
// corrected once, costs 2.7 u; the products with t, the exponential and x 1 u each: 12 u. The
// exponent, x^2 / 2, is rounded three times: 1.5 u x^2 of the tail, like an error of 1.5 u in x
// itself. With each reciprocal and exponential at its worst, the largest of three million is 7.8 u.
// The short form adds short_gelu_error.
//
// gelu_tanh: 8 u as for silu; the argument's square, factors, addition and product 4 u.
//
// 1 + erf(x / sqrt(2)) and 1 + tanh are not legal forms: they have no correct digit below -6.
inline double unary_f32_tolerance(activation::Function op, double x, double y,
                                  Dtype stored = Dtype::f32) {
  if (op == activation::Function::relu || !std::isfinite(x) || !std::isfinite(y)) return 0;
  const double u = unit_roundoff(Dtype::f32);
  const double roundings = op == activation::Function::gelu ? 12 : 8;
  const double argument = op == activation::Function::gelu        ? 1.5
                          : op == activation::Function::gelu_tanh ? 4
                                                                  : 0;
  const double loss =
      has_gate(op) ? std::fabs(x) * tail_loss(gate_oracle(op, x).value) : tail_loss(std::fabs(y));
  return u * (roundings * std::fabs(y) + argument * argument_condition(op, x)) +
         short_gelu_error(op, stored) * std::fabs(y) + loss + half_min_subnormal(Dtype::f32);
}

// gelu of a library, in the usual form 0.5 x (1 + erf(x / sqrt(2))) or with tanh, which cancels in
// the left tail: erf is rounded by u / 2 there, so x times the difference errs by u |x| however
// small y is. 4 u max(|x|, |y|): erf or tanh of 2 ulp (2 u in the left tail, where they are below
// 1), the addition and two products. The largest seen is 1.7. The bound alone does not detect a
// wrong sign in the tail: see gelu_sign.
inline double gelu_cancelling_tolerance(double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) return 0;
  return 4 * unit_roundoff(Dtype::f32) * std::max(std::fabs(x), std::fabs(y)) +
         min_subnormal(Dtype::f32);
}

// gelu never has the opposite sign of x; zeros may have either.
inline bool gelu_sign(double x, double y) { return y == 0 || std::signbit(x) == std::signbit(y); }

// --- For complete results: y = unary_oracle of x, stored in `output`.

inline std::vector<double> unary_tolerances(activation::Function op, Dtype output,
                                            std::span<const double> x, std::span<const double> y) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double computed = unary_f32_tolerance(op, x[i], y[i], output);
    const bool rounded = op != activation::Function::relu && std::isfinite(y[i]);
    bounds.push_back(rounded ? stored_tolerance(output, y[i], computed) : 0);
  }
  return bounds;
}

// The same for a library, whose gelu may cancel.
inline std::vector<double> library_tolerances(activation::Function op, Dtype output,
                                              std::span<const double> x,
                                              std::span<const double> y) {
  std::vector<double> bounds = unary_tolerances(op, output, x, y);
  if (op == activation::Function::gelu || op == activation::Function::gelu_tanh)
    for (std::size_t i = 0; i < x.size(); ++i) bounds[i] += gelu_cancelling_tolerance(x[i], y[i]);
  return bounds;
}

// The unit for comparing accuracy with a vendor's: the cost of one rounding of the result and one
// of the argument.
inline std::vector<double> unary_error_units(activation::Function op, Dtype output,
                                             std::span<const double> x, std::span<const double> y) {
  std::vector<double> units;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double size = std::isfinite(y[i]) ? std::fabs(y[i]) : 0;
    units.push_back(unit_roundoff(output) * size +
                    unit_roundoff(Dtype::f32) * argument_condition(op, x[i]) +
                    half_min_subnormal(output));
  }
  return units;
}

} // namespace kg::test
