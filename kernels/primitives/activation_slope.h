// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Derivatives of the activation functions in f32, as functions of x. They avoid differences of
// numbers near 1: 1 - tanh^2 and s (1 - s) lose all digits in the tails. Infinities give the
// limits, NaN propagates.
#pragma once

#include "primitives/activation.h"

namespace kg::activation {

// The slope of factor * gate by the product rule.
__device__ inline float gated_slope(float gate, float x, float argument_slope, float gate_slope) {
  return gate + gated(x * argument_slope, gate_slope);
}

template <class Stored>
__device__ inline float gelu_tanh_slope(float x) {
  if constexpr (kIsShort<Stored>) {
    const float bounded = -ptx::max_nan(-ptx::max_nan(x, -16.0f), -16.0f);
    const Logistic gate = short_gelu_gate(bounded);
    return fmaf(bounded * gelu_argument_slope(bounded), gate.slope, gate.value);
  } else {
    const Logistic gate = logistic(gelu_argument(x));
    return gated_slope(gate.value, x, gelu_argument_slope(x), gate.slope);
  }
}

// The slope for a result that is rounded to Stored. relu: see gradient().
template <Function function, class Stored>
__device__ inline float slope(float x) {
  static_assert(function != Function::relu);
  if constexpr (function == Function::sigmoid) return logistic(x).slope;
  if constexpr (function == Function::tanh) return 4.0f * logistic(2.0f * x).slope;
  if constexpr (function == Function::gelu) {
    const NormalTail tail = normal_tail<Stored>(tail_argument(x));
    return gated_slope(x < 0.0f ? tail.probability : 1.0f - tail.probability, x, 1.0f,
                       tail.density);
  }
  if constexpr (function == Function::gelu_tanh) return gelu_tanh_slope<Stored>(x);
  if constexpr (function == Function::silu) {
    const Logistic gate = logistic(x);
    return gated_slope(gate.value, x, 1.0f, gate.slope);
  }
}

// dy f'(x). For x <= 0 relu gives 0 whatever dy is, so that dy = inf does not produce NaN.
template <Function function, class Stored>
__device__ inline float gradient(float x, float dy) {
  if constexpr (function == Function::relu)
    return x > 0.0f ? dy : x <= 0.0f ? 0.0f : x;
  else
    return dy * slope<function, Stored>(x);
}

} // namespace kg::activation
