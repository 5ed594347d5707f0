// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Doubles that remember how they came about, for gradients of whatever plain loops compute: the
// reverse mode of automatic differentiation (Griewank and Walther, "Evaluating derivatives", SIAM
// 2008, chapter 3), one node per operation. It shares nothing with the kernels: no layer's gradient
// is written down here.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <random>
#include <vector>

namespace kg::test {

struct ScalarNode {
  double value;
  int from[2];     // -1: none
  double slope[2]; // by these
};

// The nodes since the last clear(); operations on Scalars add to it.
inline std::vector<ScalarNode>& scalar_nodes() {
  static std::vector<ScalarNode> nodes;
  return nodes;
}

// Monte Carlo arithmetic (Parker, UCLA CSD-970002, 1997): every operation errs by up to so many
// units of its result, at random. What comes out then spreads as rounding lets it. 0: none does.
inline double& scalar_unit() {
  static double unit = 0;
  return unit;
}
inline double rounded(double value, double unit = scalar_unit()) {
  if (unit == 0) return value;
  static std::minstd_rand random(1);
  return value * (1 + unit * std::uniform_real_distribution<double>(-1, 1)(random));
}

// The same of what a model of 16 bits stores between its layers, and of its gradient.
inline double& stored_unit() {
  static double unit = 0;
  return unit;
}

class Scalar {
 public:
  Scalar() = default;
  Scalar(double value) : value_(value) {}
  Scalar(double value, int from, double slope, int other = -1, double other_slope = 0)
      : value_(rounded(value)), node_(static_cast<int>(scalar_nodes().size())) {
    scalar_nodes().push_back({value_, {from, other}, {slope, other_slope}});
  }
  // A number to differentiate by.
  static Scalar variable(double value) {
    Scalar scalar(value, -1, 0);
    scalar.value_ = value;
    return scalar;
  }

  double value() const { return value_; }
  int node() const { return node_; } // -1: a constant

  friend Scalar operator+(Scalar a, Scalar b) {
    return {a.value_ + b.value_, a.node_, 1, b.node_, 1};
  }
  friend Scalar operator-(Scalar a, Scalar b) {
    return {a.value_ - b.value_, a.node_, 1, b.node_, -1};
  }
  friend Scalar operator*(Scalar a, Scalar b) {
    return {a.value_ * b.value_, a.node_, b.value_, b.node_, a.value_};
  }
  friend Scalar operator/(Scalar a, Scalar b) {
    const double quotient = a.value_ / b.value_;
    return {quotient, a.node_, 1 / b.value_, b.node_, -quotient / b.value_};
  }
  Scalar& operator+=(Scalar other) { return *this = *this + other; }

 private:
  double value_ = 0;
  int node_ = -1;
};

inline double exp_of(double x) { return std::exp(x); }
inline double log_of(double x) { return std::log(x); }
inline double sqrt_of(double x) { return std::sqrt(x); }
inline double tanh_of(double x) { return std::tanh(x); }
inline double erf_of(double x) { return std::erf(x); }
inline double value_of(double x) { return x; }

inline Scalar exp_of(Scalar x) {
  const double y = std::exp(x.value());
  return {y, x.node(), y};
}
inline Scalar log_of(Scalar x) { return {std::log(x.value()), x.node(), 1 / x.value()}; }
inline Scalar sqrt_of(Scalar x) {
  const double y = std::sqrt(x.value());
  return {y, x.node(), 0.5 / y};
}
inline Scalar tanh_of(Scalar x) {
  const double y = std::tanh(x.value());
  return {y, x.node(), 1 - y * y};
}
inline Scalar erf_of(Scalar x) {
  const double slope = 2 / std::sqrt(std::numbers::pi) * std::exp(-x.value() * x.value());
  return {std::erf(x.value()), x.node(), slope};
}
inline double value_of(Scalar x) { return x.value(); }

// A tensor's element on its way through memory.
inline double stored(double x) { return x; }
inline Scalar stored(Scalar x) {
  if (stored_unit() == 0) return x;
  return {rounded(x.value(), stored_unit()), x.node(), rounded(1, stored_unit())};
}

// The derivatives of `result` by every node.
inline std::vector<double> adjoints(Scalar result) {
  const std::vector<ScalarNode>& nodes = scalar_nodes();
  std::vector<double> by(nodes.size(), 0);
  if (result.node() >= 0) by[static_cast<std::size_t>(result.node())] = 1;
  for (std::size_t i = nodes.size(); i-- > 0;)
    for (int side = 0; side < 2; ++side)
      if (nodes[i].from[side] >= 0)
        by[static_cast<std::size_t>(nodes[i].from[side])] += rounded(nodes[i].slope[side] * by[i]);
  return by;
}

// To first order, how far `result` may be off where every operation that led to it errs by a unit:
// the sum over all nodes of |value| |derivative| (the same, section 3.4).
inline double condition(const std::vector<double>& adjoints) {
  double sum = 0;
  for (std::size_t i = 0; i < adjoints.size(); ++i)
    sum += std::abs(scalar_nodes()[i].value * adjoints[i]);
  return sum;
}

} // namespace kg::test
