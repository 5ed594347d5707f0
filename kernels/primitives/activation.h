// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Activation functions and their slopes in f32, in forms that keep their relative accuracy in both
// tails: nothing is subtracted from 1, and no exponential overflows. Infinities give the limits
// (silu and gelu of -inf are -0, where the formulas would compute inf * 0), NaN propagates, and
// subnormals are kept. Results rounded to 16 bits use short forms: gelu is accurate to 2^-16, and
// gelu_tanh to 2^-20 plus the error of its argument. The bounds in tests/oracle/tolerance_unary.h
// follow from the errors in the CUDA Programming Guide, in ulp: expf, exp2f and tanhf 2, reciprocal
// 1.
#pragma once

#include "instructions/exp2.h"
#include "instructions/max_nan.h"
#include "instructions/reciprocal.h"
#include "primitives/activation_function.h"
#include "runtime/device_code.h"

#include <bit>
#include <string_view>

namespace kg::activation {

// The quotient for denominators from 1 to 4 and finite numerators. Differs from the IEEE quotient
// in rare last bits only, and avoids the branch of `/` for extreme exponents. fmaf computes the
// remainder of the guess exactly.
__device__ inline float quotient(float numerator, float denominator) {
  const float reciprocal = ptx::reciprocal_flushed(denominator);
  const float guess = numerator * reciprocal;
  return fmaf(reciprocal, fmaf(-denominator, guess, numerator), guess);
}

// 1 / (1 + e^-z) and its slope, both from e^-|z| <= 1.
struct Logistic {
  float value;
  float slope;
};
__device__ inline Logistic logistic(float z) {
  const float e = expf(-fabsf(z));
  const float sum = 1.0f + e;
  return {quotient(z < 0.0f ? e : 1.0f, sum), quotient(e, sum * sum)};
}

// Whether gelu and gelu_tanh use their short forms for results stored in this type.
template <class Stored>
inline constexpr bool kIsShort = sizeof(Stored) < sizeof(float);

// min(|x|, 16); beyond 16 the tail of the normal distribution underflows in f32. NaN stays NaN.
__device__ inline float tail_argument(float x) { return -ptx::max_nan(-fabsf(x), -16.0f); }

inline constexpr float kHalfLog2E = 0.721347520f;

// Phi(-a) and the density at a = tail_argument(x).
struct NormalTail {
  float probability;
  float density;
};

// 1 + erf(x / sqrt(2)) would lose all digits in the left tail. But Phi(-a) e^(a^2 / 2) is smooth
// and falls as 1 / a, so a polynomial in t = 1 / (1 + k a) without constant term approximates it.
// The coefficients are minimax for the relative error on [0, 14.5]: degree 10 gives 1.3e-8; degree
// 6, for results rounded to 16 bits, 4.7e-6. (Hastings, Approximations for Digital Computers, 1955,
// uses the same form for the absolute error.) The remaining error is rounding: of the exponent,
// which reaches 105, and of the steps. This takes 20 instructions in f32; erfcf and a product take
// 45, more than fit in the time of a copy.
template <class Stored>
__device__ inline NormalTail normal_tail(float a) {
  constexpr float kShort[] = {0.123860493f,  0.120443471f, 0.13342163f,
                              0.0157588106f, 0.180438831f, -0.0739255548f};
  constexpr float kLong[] = {0.149593196f,   0.149881179f, 0.125309233f,  0.10797635f,
                             -0.0557419398f, 0.214734457f, -0.422953459f, 0.344003942f,
                             -0.133631687f,  0.0208287218f};
  constexpr int kDegree = kIsShort<Stored> ? 6 : 10;
  // exp2f takes three instructions more than ex2.approx.ftz, to handle subnormal results. The
  // square root of a nonzero result is never subnormal, and squaring it takes one instruction.
  constexpr float kRate = kIsShort<Stored> ? kHalfLog2E / 2 : kHalfLog2E;
  constexpr float kHeight = 0.398942280f; // 1 / sqrt(2 pi)
  const float denominator = fmaf(kIsShort<Stored> ? 0.31f : 0.375f, a, 1.0f);
  float t = ptx::reciprocal_flushed(denominator);
  if constexpr (!kIsShort<Stored>) t = fmaf(t, fmaf(-denominator, t, 1.0f), t);
  const auto coefficient = [&](int i) { return kIsShort<Stored> ? kShort[i] : kLong[i]; };
  float p = coefficient(kDegree - 1);
  KG_UNROLL
  for (int i = kDegree - 2; i >= 0; --i) p = fmaf(p, t, coefficient(i));
  const float exponent = -kRate * a * a;
  const float root = kIsShort<Stored> ? ptx::exp2_flushed(exponent) : 1.0f;
  const float exponential = kIsShort<Stored> ? root * root : exp2f(exponent);
  return {p * t * exponential, kHeight * exponential};
}

inline constexpr unsigned kNegativeZero = 0x80000000u;

// x, or -0 if x is negative. Compares bits as unsigned: negative numbers are the larger ones.
__device__ inline float without_negatives(float x) {
  const auto bits = std::bit_cast<unsigned>(x);
  const unsigned kept = bits < kNegativeZero ? bits : kNegativeZero;
  return std::bit_cast<float>(kept);
}

// x Phi(x). -inf gives -0, since its tail is multiplied by a finite number.
template <class Stored>
__device__ inline float gelu(float x) {
  const float a = tail_argument(x);
  return fmaf(-a, normal_tail<Stored>(a).probability, without_negatives(x));
}

// The argument of the logistic function in gelu_tanh, and its slope.
inline constexpr float kLinear = 1.595769122f; // 2 sqrt(2 / pi)
inline constexpr float kCubic = 0.0713548163f; // 0.044715 of that
__device__ inline float gelu_argument(float x) { return x * fmaf(kCubic, x * x, kLinear); }
__device__ inline float gelu_argument_slope(float x) { return fmaf(3.0f * kCubic, x * x, kLinear); }

// factor * gate, for a gate that goes to 0 faster than the factor grows.
__device__ inline float gated(float factor, float gate) {
  return gate == 0.0f ? -0.0f : factor * gate;
}

// The gate of gelu_tanh in its short form, and its slope, for |x| <= 16, beyond which the tail
// underflows in f32. e^-|z| is squared from its root, as in normal_tail, and 1 / (1 + e^-|z|) is
// rcp.approx. The short form takes 12 instructions, the long one 24.
__device__ inline Logistic short_gelu_gate(float x) {
  const float half_exponent = x * fmaf(kHalfLog2E * kCubic, x * x, kHalfLog2E * kLinear);
  const float root = ptx::exp2_flushed(-fabsf(half_exponent));
  const float reciprocal = ptx::reciprocal_flushed(fmaf(root, root, 1.0f));
  const float tail = root * root * reciprocal;
  return {x < 0.0f ? tail : reciprocal, tail * reciprocal};
}

template <class Stored>
__device__ inline float gelu_tanh(float x) {
  if constexpr (kIsShort<Stored>) {
    const float bounded = ptx::max_nan(x, -16.0f); // -inf times 0 would be NaN
    return bounded * short_gelu_gate(bounded).value;
  } else {
    return gated(x, logistic(gelu_argument(x)).value);
  }
}

// function(x), for a result that is rounded to Stored.
template <Function function, class Stored>
__device__ inline float value(float x) {
  if constexpr (function == Function::relu) return x < 0.0f ? 0.0f : x;
  if constexpr (function == Function::sigmoid) return logistic(x).value;
  if constexpr (function == Function::tanh) return tanhf(x);
  if constexpr (function == Function::gelu) return gelu<Stored>(x);
  if constexpr (function == Function::gelu_tanh) return gelu_tanh<Stored>(x);
  if constexpr (function == Function::silu) return gated(x, logistic(x).value);
}

} // namespace kg::activation
