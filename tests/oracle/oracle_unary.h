// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations of one argument in fp64, each in a form that keeps its relative accuracy in both
// tails.
#pragma once

#include <span>
#include <vector>

namespace kg::test {

// relu      max(x, 0); NaN stays NaN, the sign of a zero result is free
// sigmoid   1 / (1 + e^-x)
// tanh
// gelu      x Phi(x), Phi the normal distribution (Hendrycks and Gimpel, arXiv 1606.08415); at -inf
//           a zero
// gelu_tanh the same paper's approximation, x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3))
// silu      x sigmoid(x); at -inf its limit, a zero (x / (1 + e^-x) would be NaN)
enum class UnaryOp { relu, sigmoid, tanh, gelu, gelu_tanh, silu };

// silu and both gelus are x times a gate that rises from 0 to 1: its value, and its slope, which
// says how far rounding errors of the argument reach. Throws kg::Error for the other operations.
struct Gate {
  double value;
  double slope;
};
Gate gate_oracle(UnaryOp op, double x);

// One value per element, not rounded.
std::vector<double> unary_oracle(UnaryOp op, std::span<const double> x);

// f'(x), at an infinity its limit; relu's at 0 is 0, and NaN at NaN.
std::vector<double> unary_slope_oracle(UnaryOp op, std::span<const double> x);

// dy f'(x), as IEEE 754 has the product; relu selects, dy where x > 0 and 0 where x <= 0.
std::vector<double> unary_backward_oracle(UnaryOp op, std::span<const double> x,
                                          std::span<const double> dy);

} // namespace kg::test
