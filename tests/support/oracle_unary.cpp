// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_unary.h"

#include <cmath>
#include <numbers>

namespace kg::test {

namespace {

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

// x times a distribution function that vanishes at -inf faster than x grows.
double gated(double x, double gate) { return std::isinf(x) && x < 0 ? -0.0 : x * gate; }

double unary(UnaryOp op, double x) {
  switch (op) {
  case UnaryOp::relu: return x < 0 ? 0 : x;
  case UnaryOp::sigmoid: return sigmoid(x);
  case UnaryOp::silu: return gated(x, sigmoid(x));
  case UnaryOp::tanh: return std::tanh(x);
  case UnaryOp::gelu: return gated(x, std::erfc(-x / std::numbers::sqrt2) / 2);
  case UnaryOp::gelu_tanh: {
    constexpr double kCubic = 0.044715;
    const double inner = std::sqrt(2 / std::numbers::pi) * (x + kCubic * x * x * x);
    return gated(x, sigmoid(2 * inner));
  }
  }
  return 0;
}

} // namespace

std::vector<double> unary_oracle(UnaryOp op, std::span<const double> x) {
  std::vector<double> y;
  y.reserve(x.size());
  for (const double value : x) y.push_back(unary(op, value));
  return y;
}

} // namespace kg::test
