// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations of one argument in fp64, each in a form that keeps its relative accuracy in both
// tails.
#pragma once

#include "primitives/activation_function.h"

#include <span>
#include <vector>

namespace kg::test {

// The functions are those of primitives/activation_function.h: relu of NaN is NaN, and the sign of
// its zeros may differ; at -inf gelu, gelu_tanh and silu have their limit, a zero.

// silu and both gelus are x times a gate that rises from 0 to 1: its value, and its derivative,
// which propagates rounding errors of the argument. Throws kg::Error for other operations.
struct Gate {
  double value;
  double slope;
};
Gate gate_oracle(activation::Function op, double x);

// One unrounded value per element.
std::vector<double> unary_oracle(activation::Function op, std::span<const double> x);

// f'(x), or its limit at an infinity; relu's is 0 at 0, and NaN at NaN.
std::vector<double> unary_slope_oracle(activation::Function op, std::span<const double> x);

// dy f'(x), multiplied as in IEEE 754; relu selects: dy if x > 0 and 0 if x <= 0.
std::vector<double> unary_backward_oracle(activation::Function op, std::span<const double> x,
                                          std::span<const double> dy);

} // namespace kg::test
