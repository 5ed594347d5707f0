// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of attention, its gradients and rotary positions. *cal*: a constant that has not been
// measured on a GPU yet; it is derived, and will be set to twice the largest of 10^8 results there.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// `weighted_abs` is sum_j p_j |v_j|, `score_condition` max_j scale sum |q| |k_j|, `depth` the
// length of the scores' sums, `chain` the longest sequential sum over keys.
//
// A score is a product as in gemm_f32_tolerance: min(depth + 2, 16) u of its condition, which
// includes the rounding of s - m. The exponential turns it into a relative error of p_j, which
// enters the result twice: in the numerator and in the denominator. 8 u as in softmax. The two sums
// over keys, of p and of p v, have standard deviations of 0.25 u sqrt(chain) each; six of both are
// 2.1 sqrt(chain).
inline double attention_f32_tolerance(double weighted_abs, double score_condition,
                                      std::int64_t depth, std::int64_t chain) {
  constexpr double kChain = 2.1;
  const double u = unit_roundoff(Dtype::f32);
  const double score = std::min(static_cast<double>(depth + 2), 16.0) * u * score_condition;
  return (2 * score + u * (8 + kChain * std::sqrt(static_cast<double>(chain)))) * weighted_abs +
         half_min_subnormal(Dtype::f32);
}

// f16 or bf16 inputs and outputs with f32 sums: the weights are rounded to `dtype` before the
// product with V, and the result once. Tensor Core sums as in gemm_xf16_tolerance (*cal*).
inline double attention_xf16_tolerance(Dtype dtype, double expected, double weighted_abs,
                                       double score_condition, std::int64_t depth,
                                       std::int64_t chain) {
  const double units = 0.25 * std::sqrt(static_cast<double>(std::max(depth, chain)));
  const double u = unit_roundoff(Dtype::f32);
  return stored_tolerance(dtype, expected,
                          attention_f32_tolerance(weighted_abs, score_condition, depth, chain) +
                              units * u * (1 + 2 * score_condition) * weighted_abs +
                              unit_roundoff(dtype) * weighted_abs);
}

// The logarithm of the sum of exponentials, kept in f32. A score's error passes through unchanged;
// the sum's relative error (as above: 8 u and 1.05 sqrt(chain) u) becomes an absolute one. Rounded
// are the largest score, the logarithm (1 ulp, CUDA C++ Programming Guide) and their sum. Tensor
// Cores add their part to the scores.
inline double attention_log_sum_tolerance(Dtype dtype, double expected, double score_condition,
                                          std::int64_t depth, std::int64_t chain) {
  const double u = unit_roundoff(Dtype::f32);
  const double units = dtype == Dtype::f32 ? 0 : 0.25 * std::sqrt(static_cast<double>(depth)) * u;
  return (std::min(static_cast<double>(depth + 2), 16.0) * u + units) * score_condition +
         u * (8 + 1.05 * std::sqrt(static_cast<double>(chain))) +
         u * (2 * std::fabs(expected) + score_condition);
}

// One element of an attention gradient: `terms`, `scores`, `products` and `factors` as in
// AttentionGradient, `chain` the longest sequential sum over its pairs.
//
// An exponent is scale <q, k> + bias - log_sum in units of ln 2. It has a product's error, min(n +
// 2, 16) u as in gemm_f32_tolerance, and at most three more roundings of each part (constants,
// factor, difference). It becomes a relative error of the weight, and so of the term. So do 8 u as
// in softmax, dS's difference and product, and the scale. dS also has the errors of <dout, v> and
// <dout, out>, which are products themselves. The sum over the pairs: 1.5 sqrt(chain), as in
// attention_f32_tolerance.
struct AttentionGradientElement {
  double value, terms, scores, products, factors;
  std::int64_t depth, value_depth, chain;
};
inline double attention_gradient_f32_tolerance(const AttentionGradientElement& e) {
  constexpr double kChain = 1.5;
  const auto of_product = [](std::int64_t n) { return std::min(static_cast<double>(n + 2), 16.0); };
  return unit_roundoff(Dtype::f32) *
             ((of_product(e.depth) + 3) * e.scores + of_product(e.value_depth) * e.products +
              (11 + kChain * std::sqrt(static_cast<double>(e.chain))) * e.terms) +
         half_min_subnormal(Dtype::f32);
}

// f16 or bf16 on Tensor Cores (*cal*, as above): P and dS are rounded to `dtype` before they are
// multiplied; the error is relative, or absolute for small numbers.
inline double attention_gradient_xf16_tolerance(Dtype dtype, const AttentionGradientElement& e) {
  const auto units = [](std::int64_t n) { return 0.25 * std::sqrt(static_cast<double>(n)); };
  return stored_tolerance(dtype, e.value,
                          attention_gradient_f32_tolerance(e) +
                              unit_roundoff(Dtype::f32) *
                                  (units(e.depth) * e.scores + units(e.value_depth) * e.products +
                                   units(e.chain) * e.terms) +
                              unit_roundoff(dtype) * e.terms +
                              half_min_subnormal(dtype) * e.factors);
}

// How a kernel obtains sine and cosine. computed: from position x frequency, rounded to f32; an
// angle that is off by u |angle| rotates the pair by that much. table: computed in fp64 and rounded
// to f32.
enum class RopeAngles { computed, table };

// For a kernel that is given cosines and sines: two products and their sum, at most three roundings
// of at most u `turned`, and an intermediate underflow.
inline double rope_turn_tolerance(double turned) {
  return 3 * unit_roundoff(Dtype::f32) * turned + 2 * half_min_subnormal(Dtype::f32);
}

// `turned` is |x1 cos| + |x2 sin|, `angle` position x frequency, `magnitude` |x1| + |x2|. Sine and
// cosine of 2 ulp (4 u; CUDA C++ Programming Guide, mathematical functions: sinf, cosf), a product
// and the sum. A sine without range reduction fails at any large angle.
inline double rope_f32_tolerance(double turned, double angle, double magnitude, RopeAngles angles) {
  const double u = unit_roundoff(Dtype::f32);
  const double turn = angles == RopeAngles::computed ? u * angle * magnitude : 0;
  return 6 * u * turned + turn + half_min_subnormal(Dtype::f32);
}

} // namespace kg::test
