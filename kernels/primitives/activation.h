// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions and their slopes in f32, each in a form that keeps its relative accuracy in
// both tails: nothing is subtracted from 1, and no exponential overflows. Infinities give the
// limits (silu and gelu of -inf are -0, where the formulas would multiply inf by 0), NaN stays NaN,
// subnormals are kept. What is rounded to 16 bits takes gelu's short form, right to 2^-16. The
// bounds are in tests/oracle/tolerance_unary.h; they follow from the errors that the CUDA
// Programming Guide states, in ulp: expf 2, tanhf 2, erfcf 4.
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

// Phi(-a) and the density at a, a >= 0, to a relative error of 2^-16 in the whole tail: for results
// that are rounded to 16 bits. Phi(-a) e^(a^2 / 2) is smooth and falls as 1 / a, so a polynomial in
// t = 1 / (1 + 0.31 a) without a constant has it: degree 6, least greatest relative error on
// [0, 14.5], beyond which f32 has no numbers left for it; 4.7e-6. (The idea is that of Hastings,
// Approximations for Digital Computers, 1955; his coefficients bound the absolute error.) The rest
// is the rounding of the exponent, which is up to 105. 18 instructions where erfcf and expf take
// 60, for which a copy in 16 bits leaves no time.
struct NormalTail {
  float probability;
  float density;
};
__device__ inline NormalTail short_normal_tail(float a) {
  constexpr float kCoefficients[] = {0.123860493f,  0.120443471f, 0.13342163f,
                                     0.0157588106f, 0.180438831f, -0.0739255548f};
  constexpr float kHalfLog2E = 0.721347520f;
  constexpr float kHeight = 0.398942280f; // 1 / sqrt(2 pi)
  const float t = __fdividef(1.0f, fmaf(0.31f, a, 1.0f));
  float p = kCoefficients[5];
  KG_UNROLL
  for (int i = 4; i >= 0; --i) p = fmaf(p, t, kCoefficients[i]);
  const float exponential = exp2f(-kHalfLog2E * a * a);
  return {p * t * exponential, kHeight * exponential};
}

// x Phi(x) by that. -inf gives -0: the factor of its tail, 0, is finite.
__device__ inline float short_gelu(float x) {
  constexpr float kVanished = 16.0f; // Phi(-16) is no number of f32
  const float a = fabsf(x);
  return fmaf(-fminf(a, kVanished), short_normal_tail(a).probability, x < 0.0f ? -0.0f : x);
}

// Whether a result that is stored in this type has gelu in its short form.
template <class Stored>
inline constexpr bool kIsShort = sizeof(Stored) < sizeof(float);

// gelu_tanh's argument of the logistic function, and its slope.
inline constexpr float kLinear = 1.595769122f; // 2 sqrt(2 / pi)
inline constexpr float kCubic = 0.0713548163f; // 0.044715 of that
__device__ inline float gelu_argument(float x) { return x * fmaf(kCubic, x * x, kLinear); }
__device__ inline float gelu_argument_slope(float x) { return fmaf(3.0f * kCubic, x * x, kLinear); }

// factor * gate, where the gate goes to 0 faster than the factor can grow.
__device__ inline float gated(float factor, float gate) {
  return gate == 0.0f ? -0.0f : factor * gate;
}

// Of a result that is rounded to Stored.
template <Function function, class Stored>
__device__ inline float value(float x) {
  if constexpr (function == Function::relu) return x < 0.0f ? 0.0f : x;
  if constexpr (function == Function::sigmoid) return logistic(x).value;
  if constexpr (function == Function::tanh) return tanhf(x);
  if constexpr (function == Function::gelu) {
    if constexpr (kIsShort<Stored>) return short_gelu(x);
    return gated(x, normal_distribution(x));
  }
  if constexpr (function == Function::gelu_tanh) return gated(x, logistic(gelu_argument(x)).value);
  if constexpr (function == Function::silu) return gated(x, logistic(x).value);
}

} // namespace kg::activation
