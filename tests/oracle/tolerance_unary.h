// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of activations in f32, as tolerance.h has them for sums. For f16 and bf16 outputs:
// stored_tolerance of these. relu is exact and has none. The errors of expf and exp2f (2 ulp),
// tanhf (2), erff (2) and of a reciprocal (1) are those that the CUDA C++ Programming Guide states
// for its functions; 1 ulp is 2 u at most.
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

// What f32 loses of a factor that vanishes exponentially: where it is subnormal, the exponential's
// error of 2 ulp is an absolute one, and the factor's own rounding half of one more. From 2^-160
// on, far below half the smallest number, every f32 function gives 0.
inline double tail_loss(double factor) {
  constexpr double kSubnormalUlps = 2.5;
  constexpr double kVanished = 0x1p-160;
  return factor < kVanished ? factor : kSubnormalUlps * min_subnormal(Dtype::f32);
}

// How far one unit of relative error in the argument of a gate moves the result: x^2 gate'(x).
inline double argument_condition(activation::Function op, double x) {
  return has_gate(op) && std::isfinite(x) ? x * x * gate_oracle(op, x).slope : 0;
}

// What the short forms of gelu and gelu_tanh, which kernels take for results that are stored in 16
// bits, err beyond the long ones, relative to the gate and to its slope. gelu: the polynomial
// 4.7e-6, and of roundings 13 u, 9 of them of the exponential, a square, where the long form has
// 8.7 for polynomial, argument and exponential. gelu_tanh: the exponential is a square, too, 9 u
// for 4, and the slope has two reciprocals of 2 u each and their product for a division of 1; 10 u.
inline double short_gelu_error(activation::Function op, Dtype stored) {
  if (size_of(stored) >= size_of(Dtype::f32)) return 0;
  if (op == activation::Function::gelu_tanh) return 10 * unit_roundoff(Dtype::f32);
  return op == activation::Function::gelu ? 5.2e-6 : 0;
}

// Of one element in the operation's own terms, x and y = unary_oracle, where the result is stored
// as `stored`. 0 where x or y is not finite.
//
// sigmoid, silu, tanh: an exponential (4 u), an addition, a division and a product of one rounding
// each, in all 7 u of y at most; 8 u. The largest seen in f32 is 2.9 u. An argument of the
// exponential that was rounded after a multiplication by log2(e) errs by u |x|, beyond the bound
// from |x| = 8 on; tanh.approx (2^-11) is 1000 times beyond it. 1 / (1 + e^-x) is no legal form
// below -88.7, where e^-x is infinite though silu is a normal number: use e^x / (1 + e^x) there.
//
// gelu: the exponential 4 u, the polynomial 2 u and what is off in its argument t, once rounded and
// once corrected, as much as 2.7 u; its product with t, that with the exponential and the one with
// x 1 u each: 12 u. The exponent, x^2 / 2, is rounded three times: 1.5 u x^2 of the tail, what an
// error of 1.5 u in x itself would cost. With each reciprocal and each exponential as far off as
// may be, the largest of three million is 7.8 u. The short form adds short_gelu_error.
//
// gelu_tanh: 8 u as silu; the argument's square, factors, addition and product 4 u.
//
// 1 + erf(x / sqrt(2)), or 1 + tanh, is no legal form: it has no correct digit below -6.
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

// gelu of a library, in the usual form 0.5 x (1 + erf(x / sqrt(2))) or with tanh, whose sum cancels
// in the left tail: erf is rounded by u / 2 there, so that x times the difference errs by u |x|
// however small y is. 4 u max(|x|, |y|): erf or tanh of 2 ulp (2 u in the left tail, where they are
// below 1), the addition and two products. The largest seen is 1.7. Where the sign is wrong, the
// bound alone does not see it in the tail: see gelu_sign.
inline double gelu_cancelling_tolerance(double x, double y) {
  if (!std::isfinite(x) || !std::isfinite(y)) return 0;
  return 4 * unit_roundoff(Dtype::f32) * std::max(std::fabs(x), std::fabs(y)) +
         min_subnormal(Dtype::f32);
}

// gelu never has the sign opposite to x; zeros are free.
inline bool gelu_sign(double x, double y) { return y == 0 || std::signbit(x) == std::signbit(y); }

// --- For whole results: y = unary_oracle of x, stored in `output`.

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

// The unit in which accuracies are compared with a vendor's: what one rounding of the result and
// one of the argument cost.
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
