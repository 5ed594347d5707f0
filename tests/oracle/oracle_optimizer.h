// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// An optimizer step of one element, by the formulas of optimizer.h, with the bound of an f32
// computation in the same order. Applied to its own results, it bounds several steps.
#pragma once

#include <cmath>

#include "ops/optimizer/optimizer.h"
#include "tests/oracle/running_error.h"

namespace kg::test {

struct OptimizerState {
  Running value, first, second;
};

// sign(c); both signs are allowed if rounding may have moved c across 0.
inline Running sign_of(Running c) {
  if (std::isnan(c.value) || c.value == 0) return {c.value, c.error > 0 ? 1.0 : 0.0};
  const double sign = std::copysign(1.0, c.value);
  return {sign, std::fabs(c.value) > c.error ? 0.0 : 2.0};
}

// For found_inf = 0. `scale` is the number in device memory.
inline OptimizerState optimizer_step(optimizer::Kind kind, const optimizer::Step& step,
                                     double scale, OptimizerState s, double gradient) {
  using optimizer::Kind;
  const auto constant = Running::constant;
  const Running beta1 = constant(step.beta1), rest1 = constant(1 - step.beta1);
  const Running beta2 = constant(step.beta2), rest2 = constant(1 - step.beta2);
  const Running rate = constant(step.rate);
  Running g = Running::stored(gradient) * Running::stored(scale);
  if (kind == Kind::adamw || kind == Kind::lion)
    s.value = s.value * constant(1 - step.rate * step.decay);
  else if (step.decay != 0)
    g = fused(constant(step.decay), s.value, g);

  switch (kind) {
  case Kind::sgd: s.value = fused(-rate, g, s.value); break;
  case Kind::momentum:
  case Kind::nesterov:
    s.first = fused(beta1, s.first, g);
    s.value = fused(-rate, kind == Kind::nesterov ? fused(beta1, s.first, g) : s.first, s.value);
    break;
  case Kind::adam:
  case Kind::adamw: {
    const auto t = static_cast<double>(step.number);
    s.first = fused(beta1, s.first, rest1 * g);
    s.second = fused(beta2, s.second, rest2 * g * g);
    const Running corrected = constant(step.rate / (1 - std::pow(step.beta1, t)));
    const Running root = constant(1 / std::sqrt(1 - std::pow(step.beta2, t)));
    const Running length = fused(square_root(s.second), root, constant(step.epsilon));
    s.value = fused(-corrected, s.first / length, s.value);
    break;
  }
  case Kind::lion: {
    const Running sign = sign_of(fused(beta1, s.first, rest1 * g));
    s.first = fused(beta2, s.first, rest2 * g);
    s.value = fused(-rate, sign, s.value);
    break;
  }
  }
  return s;
}

} // namespace kg::test
