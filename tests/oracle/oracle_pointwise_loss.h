// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses of single elements and their derivatives, with the tolerances of an f32 kernel.
#pragma once

#include <cmath>

#include "ops/pointwise_loss/pointwise_loss.h"
#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

struct LossOracle {
  double value;
  double tolerance; // absolute, in f32
};

// 4 u if nothing cancels: the difference is rounded once, which squaring doubles; then the square
// and a product. huber's linear part is rounded by u of each of its terms.
//
// bce: expf and log1pf err by 2 ulp each (CUDA C++ Programming Guide), 4 u; the logarithm's
// derivative is at most 1, so with the last addition 10 u of the logarithm are enough. x t and the
// difference are fused or not: 3 u of the larger terms.
//
// kl: logf errs by 1 ulp, 2 u; the difference and the product are rounded once each.
inline LossOracle loss_oracle(pointwise_loss::Kind kind, double x, double t, double delta) {
  using pointwise_loss::Kind;
  const double u = unit_roundoff(Dtype::f32), tiny = half_min_subnormal(Dtype::f32);
  const double apart = x - t, distance = std::fabs(apart);
  switch (kind) {
  case Kind::mse: return {apart * apart, 4 * u * apart * apart + tiny};
  case Kind::huber:
    if (distance <= delta) return {apart * apart / 2, 2 * u * apart * apart + 2 * tiny};
    return {delta * (distance - delta / 2), 4 * u * delta * (distance + delta / 2) + tiny};
  case Kind::bce: {
    const double positive = x < 0 ? 0 : x, logarithm = std::log1p(std::exp(-std::fabs(x)));
    return {positive - x * t + logarithm,
            u * (3 * (positive + std::fabs(x * t)) + 10 * logarithm) + 4 * tiny};
  }
  case Kind::kl:
    if (t == 0) return {0, 0};
    return {t * (std::log(t) - x),
            u * (3 * std::fabs(t * std::log(t)) + 3 * std::fabs(t * x)) + tiny};
  }
  return {};
}

// Times dloss. For kl and clamped huber only the product is rounded; otherwise also the difference
// and the product: 3 u. bce's sigmoid errs by 8 u (unary_f32_tolerance), and by 5 times the
// smallest subnormal if its exponential is subnormal.
inline LossOracle slope_oracle(pointwise_loss::Kind kind, double x, double t, double delta,
                               double dloss) {
  using pointwise_loss::Kind;
  const double u = unit_roundoff(Dtype::f32), tiny = half_min_subnormal(Dtype::f32);
  const double apart = x - t;
  const auto rounded = [&](double value) {
    return LossOracle{value * dloss, 3 * u * std::fabs(value * dloss) + tiny};
  };
  switch (kind) {
  case Kind::mse: return rounded(2 * apart);
  case Kind::huber: return rounded(apart < -delta ? -delta : apart > delta ? delta : apart);
  case Kind::bce: {
    const double sigmoid = 1 / (1 + std::exp(-x)), size = std::fabs(dloss);
    LossOracle result = rounded(sigmoid - t);
    result.tolerance += size * (8 * u * sigmoid + 10 * tiny);
    return result;
  }
  case Kind::kl: return rounded(-t);
  }
  return {};
}

} // namespace kg::test
