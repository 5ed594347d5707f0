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
// silu      x sigmoid(x); at -inf its limit, a zero (x / (1 + e^-x) would be NaN)
// tanh
// gelu      x Phi(x), Phi the normal distribution (Hendrycks and Gimpel, arXiv 1606.08415); at -inf
// a
//           zero
// gelu_tanh the same paper's approximation, x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3))
enum class UnaryOp { relu, sigmoid, silu, tanh, gelu, gelu_tanh };

// One value per element, not rounded.
std::vector<double> unary_oracle(UnaryOp op, std::span<const double> x);

} // namespace kg::test
