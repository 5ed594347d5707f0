// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers with a running error bound: the value in fp64, and the error of an f32 computation of the
// same steps, each correctly rounded (running error analysis; Higham, Accuracy and Stability, 2nd
// ed., 3.3). For formulas that cancel, divide and take roots, where no multiple of a single
// condition is a bound.
//
// Intermediate results that overflow f32 are infinite here as well. A result that is not finite has
// no error: its class must match.
#pragma once

#include <algorithm>
#include <cmath>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"

namespace kg::test {

struct Running {
  double value = 0;
  double error = 0;

  // A number stored in f32.
  static Running stored(double value) { return {value, 0}; }
  // A number computed in fp64 and rounded to f32, such as a learning rate.
  static Running constant(double value) {
    return {value, std::fabs(value - round_to(Dtype::f32, value))};
  }

  // Adds one rounding to a value that is already off by `error`: at most u of the rounded number,
  // and half the spacing of subnormals.
  static Running rounded(double value, double error) {
    value = std::isfinite(value) && std::isinf(round_to(Dtype::f32, value))
                ? std::copysign(HUGE_VAL, value)
                : value;
    const double rounding =
        unit_roundoff(Dtype::f32) * (std::fabs(value) + error) + min_subnormal(Dtype::f32) / 2;
    return {value, std::isfinite(value + error) ? error + rounding : 0};
  }
};

inline Running operator-(Running a) { return {-a.value, a.error}; }

inline double product_error(Running a, Running b) {
  return std::fabs(a.value) * b.error + std::fabs(b.value) * a.error + a.error * b.error;
}

inline Running operator*(Running a, Running b) {
  return Running::rounded(a.value * b.value, product_error(a, b));
}

// a b + c with one rounding.
inline Running fused(Running a, Running b, Running c) {
  return Running::rounded(a.value * b.value + c.value, product_error(a, b) + c.error);
}

// sqrt(x) - sqrt(a)| = |x - a| / (sqrt(x) + sqrt(a)) <= sqrt(|x - a|).
inline Running square_root(Running a) {
  const double root = std::sqrt(a.value);
  const double least = root + std::sqrt(std::max(a.value - a.error, 0.0));
  const double error = least > 0 ? a.error / least : HUGE_VAL;
  return Running::rounded(root, std::min(error, std::sqrt(a.error)));
}

// |x / y - a / b| <= (|x - a| + |a / b| |y - b|) / |y|.
inline Running operator/(Running a, Running b) {
  const double quotient = a.value / b.value;
  return Running::rounded(quotient, (a.error + std::fabs(quotient) * b.error) /
                                        (std::fabs(b.value) - b.error));
}

} // namespace kg::test
