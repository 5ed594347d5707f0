// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of dy f'(x) in f32, for the functions of tolerance_unary.h, with the same errors of exp2f,
// expf and the reciprocal. For f16 and bf16 outputs: stored_tolerance of these. relu is exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_unary.h"

namespace kg::test {

// The terms of f' = gate + x gate', which may cancel: the change of f' for a relative error of 1 in
// each of them. For sigmoid and tanh f' has one term.
inline double slope_condition(activation::Function op, double x) {
  if (!has_gate(op)) return std::fabs(unary_slope_oracle(op, std::vector<double>{x})[0]);
  const Gate gate = gate_oracle(op, x);
  return gate.slope == 0 ? gate.value : gate.value + std::fabs(x) * gate.slope;
}

// The derivative of the gate's own argument, a factor of its exponential's error.
inline double inner_slope(activation::Function op, double x) {
  return op == activation::Function::gelu_tanh ? 1.5957691216057308 * (1 + 3 * 0.044715 * x * x)
                                               : 1;
}

// The absolute error, in u, of the exponential's argument: gelu's x^2 / 2 is rounded three times;
// gelu_tanh's z = 2 sqrt(2 / pi) (x + 0.044715 x^3) has a relative error of 4 u.
inline double exponent_roundings(activation::Function op, double x) {
  if (op == activation::Function::gelu) return 3 * x * x / 2;
  if (op == activation::Function::gelu_tanh)
    return 4 * 1.5957691216057308 * std::fabs(x) * (1 + 0.044715 * x * x);
  return 0;
}

// For one element, dx = unary_backward_oracle. 0 if one of the numbers is not finite.
//
// sigmoid, tanh: e / (1 + e)^2, with e = e^-|x| or e^-2|x|: the exponential (4 u), twice the sum,
// the square, the division and the product with dy, 9 u; 10 u. 1 - y and 1 - y^2 are not legal
// forms: where y is near 1 they have no correct digit.
//
// silu, gelu, gelu_tanh: the gate errs by 6 u (gelu's by 12 u), the sum and dy add 2 u: 14 u of the
// gate. x gate' errs by 4 u of the exponential, 4 of its sums and division, 3 of the argument's
// derivative, 2 of the products with x, and the same 2 u: 15 u, plus the error of the exponential's
// argument. That error also changes gelu_tanh's gate, times z (1 - gate): at most 4 u of x gate';
// gelu's gate by 1.5 u of it, as in the forward pass. 20 u of both terms.
//
// Subnormal or zero exponentials cost tail_loss, times their factors; tanh has a factor of 4.
inline double unary_backward_f32_tolerance(activation::Function op, double x, double dy, double dx,
                                           Dtype stored = Dtype::f32) {
  if (op == activation::Function::relu || !std::isfinite(x) || !std::isfinite(dy) ||
      !std::isfinite(dx))
    return 0;
  const double u = unit_roundoff(Dtype::f32);
  const double condition = slope_condition(op, x);
  double error = 10 * u * condition + 4 * tail_loss(condition / 4);
  if (has_gate(op)) {
    const Gate gate = gate_oracle(op, x);
    const double inner = inner_slope(op, x);
    const double shortened = short_gelu_error(op, stored);
    const double exponent = exponent_roundings(op, x);
    error = u * (20 * condition + exponent * std::fabs(x) * gate.slope) + shortened * condition +
            tail_loss(gate.value) + std::fabs(x) * inner * tail_loss(gate.slope / inner);
  }
  return error * std::fabs(dy) + min_subnormal(Dtype::f32);
}

// --- For complete results: dx = unary_backward_oracle of x and dy, stored in `output`.

inline std::vector<double> unary_backward_tolerances(activation::Function op, Dtype output,
                                                     std::span<const double> x,
                                                     std::span<const double> dy,
                                                     std::span<const double> dx) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double computed = unary_backward_f32_tolerance(op, x[i], dy[i], dx[i], output);
    const bool rounded = op != activation::Function::relu && std::isfinite(dx[i]);
    bounds.push_back(rounded ? stored_tolerance(output, dx[i], computed) : 0);
  }
  return bounds;
}

// The same for a library, which may compute f' from the stored y or from other numbers near 1: 1 -
// y^2 errs by 2 roundings of y, and its product with silu's x by |x| times as many; with the
// roundings of the formula itself 8.
inline std::vector<double> library_backward_tolerances(activation::Function op, Dtype output,
                                                       std::span<const double> x,
                                                       std::span<const double> dy,
                                                       std::span<const double> dx) {
  std::vector<double> bounds = unary_backward_tolerances(op, output, x, dy, dx);
  if (op == activation::Function::relu) return bounds;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::isfinite(x[i]) && std::isfinite(dy[i]))
      bounds[i] += 8 * unit_roundoff(output) * std::fabs(dy[i]) * std::max(1.0, std::fabs(x[i]));
  return bounds;
}

// The unit for comparing accuracy with a vendor's: the cost of one rounding of the result and one
// of each term of f'. Terms of gelu's short form err by short_gelu_error, some 87 roundings of f32.
// Where they cancel (f' is 0 at -0.7518) the result is too small to hide it: of all f16 numbers,
// -0.752 is off by 11 units without this term, and a library's long form by 1.
inline std::vector<double> unary_backward_error_units(activation::Function op, Dtype output,
                                                      std::span<const double> x,
                                                      std::span<const double> dy,
                                                      std::span<const double> dx) {
  const double of_term = unit_roundoff(Dtype::f32) + short_gelu_error(op, output);
  std::vector<double> units;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool finite = std::isfinite(dx[i]) && std::isfinite(x[i]) && std::isfinite(dy[i]);
    const double terms = finite ? std::fabs(dy[i]) * slope_condition(op, x[i]) : 0;
    units.push_back(unit_roundoff(output) * (finite ? std::fabs(dx[i]) : 0) + of_term * terms +
                    half_min_subnormal(output));
  }
  return units;
}

} // namespace kg::test
