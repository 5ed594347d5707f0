// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_unary.h"

#include <cmath>
#include <numbers>
#include <string>

#include "runtime/error.h"

namespace kg::test {

namespace {

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

double sigmoid_slope(double x) { return sigmoid(x) * sigmoid(-x); }

// factor times a gate or its derivative, which vanishes faster than the factor grows.
double gated(double factor, double gate) { return gate == 0 ? -0.0 : factor * gate; }

double unary(activation::Function op, double x) {
  switch (op) {
  case activation::Function::relu: return x < 0 ? 0 : x;
  case activation::Function::sigmoid: return sigmoid(x);
  case activation::Function::tanh: return std::tanh(x);
  case activation::Function::silu:
  case activation::Function::gelu:
  case activation::Function::gelu_tanh: return gated(x, gate_oracle(op, x).value);
  }
  return 0;
}

double slope(activation::Function op, double x) {
  switch (op) {
  case activation::Function::relu: return x > 0 ? 1 : x <= 0 ? 0 : x;
  case activation::Function::sigmoid: return sigmoid_slope(x);
  case activation::Function::tanh: return 1 / (std::cosh(x) * std::cosh(x));
  case activation::Function::silu:
  case activation::Function::gelu:
  case activation::Function::gelu_tanh: {
    const Gate gate = gate_oracle(op, x);
    return gate.value + gated(x, gate.slope);
  }
  }
  return 0;
}

} // namespace

Gate gate_oracle(activation::Function op, double x) {
  constexpr double kPi = std::numbers::pi;
  if (op == activation::Function::silu) return {sigmoid(x), sigmoid_slope(x)};
  if (op == activation::Function::gelu)
    return {std::erfc(-x / std::numbers::sqrt2) / 2, std::exp(-x * x / 2) / std::sqrt(2 * kPi)};
  require(op == activation::Function::gelu_tanh,
          "gate_oracle: only silu, gelu and gelu_tanh have a gate");
  constexpr double kCubic = 0.044715;
  const double scale = 2 * std::sqrt(2 / kPi);
  const double argument = scale * (x + kCubic * x * x * x);
  const double argument_slope = scale * (1 + 3 * kCubic * x * x);
  return {sigmoid(argument), gated(argument_slope, sigmoid_slope(argument))};
}

std::vector<double> unary_oracle(activation::Function op, std::span<const double> x) {
  std::vector<double> y;
  y.reserve(x.size());
  for (const double value : x) y.push_back(unary(op, value));
  return y;
}

std::vector<double> unary_slope_oracle(activation::Function op, std::span<const double> x) {
  std::vector<double> slopes;
  slopes.reserve(x.size());
  for (const double value : x) slopes.push_back(slope(op, value));
  return slopes;
}

std::vector<double> unary_backward_oracle(activation::Function op, std::span<const double> x,
                                          std::span<const double> dy) {
  require(x.size() == dy.size(), "unary_backward_oracle: " + std::to_string(x.size()) +
                                     " arguments and " + std::to_string(dy.size()) +
                                     " gradients; there must be one for each");
  std::vector<double> dx = unary_slope_oracle(op, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool blocked = op == activation::Function::relu && x[i] <= 0;
    dx[i] = blocked ? 0 : dx[i] * dy[i];
  }
  return dx;
}

} // namespace kg::test
