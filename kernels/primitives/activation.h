// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions and their slopes in f32, each in a form that keeps its relative accuracy in
// both tails: nothing is subtracted from 1, and no exponential overflows. Infinities give the
// limits (silu and gelu of -inf are -0, where the formulas would multiply inf by 0), NaN stays NaN,
// subnormals are kept. The bounds are in tests/oracle/tolerance_unary.h; they follow from the
// errors that the CUDA Programming Guide states, in ulp: expf 2, tanhf 2, erfcf 4.
#pragma once

#include "primitives/activation_function.h"
#include "runtime/device_code.h"

#include <string_view>

namespace kg::activation {

// For denominators from 1 to 4 and finite numerators: the IEEE quotient but for rare last bits,
// without the branch for extreme exponents that `/` brings. fmaf gives the remainder of the guess
// exactly.
__device__ inline float quotient(float numerator, float denominator) {
  const float reciprocal = __fdividef(1.0f, denominator);
  const float guess = numerator * reciprocal;
  return fmaf(reciprocal, fmaf(-denominator, guess, numerator), guess);
}

// 1 / (1 + e^-z) and its slope, both from e^-|z|, which is at most 1.
struct Logistic {
  float value;
  float slope;
};
__device__ inline Logistic logistic(float z) {
  const float e = expf(-fabsf(z));
  const float sum = 1.0f + e;
  return {quotient(z < 0.0f ? e : 1.0f, sum), quotient(e, sum * sum)};
}

// Phi and its density. Of 1 + erf(x / sqrt(2)) the left tail would have no correct digit.
__device__ inline float normal_distribution(float x) {
  constexpr float kSqrtHalf = 0.707106781f;
  return 0.5f * erfcf(-kSqrtHalf * x);
}
__device__ inline float normal_density(float x) {
  constexpr float kHeight = 0.398942280f; // 1 / sqrt(2 pi)
  return kHeight * expf(-0.5f * x * x);
}

// gelu_tanh's argument of the logistic function, and its slope.
inline constexpr float kLinear = 1.595769122f; // 2 sqrt(2 / pi)
inline constexpr float kCubic = 0.0713548163f; // 0.044715 of that
__device__ inline float gelu_argument(float x) { return x * fmaf(kCubic, x * x, kLinear); }
__device__ inline float gelu_argument_slope(float x) { return fmaf(3.0f * kCubic, x * x, kLinear); }

// factor * gate, where the gate goes to 0 faster than the factor can grow.
__device__ inline float gated(float factor, float gate) {
  return gate == 0.0f ? -0.0f : factor * gate;
}

template <Function function>
__device__ inline float value(float x) {
  if constexpr (function == Function::relu) return x < 0.0f ? 0.0f : x;
  if constexpr (function == Function::sigmoid) return logistic(x).value;
  if constexpr (function == Function::tanh) return tanhf(x);
  if constexpr (function == Function::gelu) return gated(x, normal_distribution(x));
  if constexpr (function == Function::gelu_tanh) return gated(x, logistic(gelu_argument(x)).value);
  if constexpr (function == Function::silu) return gated(x, logistic(x).value);
}

} // namespace kg::activation
