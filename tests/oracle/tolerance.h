// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tolerances of a correct kernel around the fp64 oracle: absolute bounds for one element, in
// units of its condition. A bound that depends only on the size of the data would be too loose
// where terms cancel, or too tight where they do not.
//
// u = unit_roundoff(dtype) = half an ulp of 1. Elementwise operations are not listed: they are
// correctly rounded, so their tolerance is 0 (oracle.h). Every bound is finite and >= 0. Change a
// constant only together with its derivation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle.h"

namespace kg::test {

// Rounding a result into the subnormal range errs by half the spacing, however small the result.
inline double half_min_subnormal(Dtype dtype) { return min_subnormal(dtype) / 2; }

// An f32 GEMM on zero-mean data; `condition` is |alpha| (|A||B|)_ij + |beta||C_ij|, k the length of
// the sum.
//
// k + 2 is the deterministic bound: each term passes through at most k roundings of product and
// sum, one of alpha, and one of the addition of beta C (Higham, Accuracy and Stability, 2nd ed.,
// 3.1). It applies for k < 14 only. For larger k the roundings of a zero-mean sum do not
// accumulate: a partial sum of j terms has size s^2 sqrt(j), and its roundings give the total a
// standard deviation of u s^2 k / sqrt(6), while the condition is 0.64 k s^2. So the error is about
// 0.64 u condition for every k. The largest of 10^6 sequential sums was 6.7, of eight-way sums 1.5;
// TF32 inputs give 204 (k = 16384) and more. 16 separates them.
inline double gemm_f32_tolerance(std::int64_t k, double condition) {
  constexpr double kZeroMean = 16;
  return std::min(static_cast<double>(k + 2), kZeroMean) * unit_roundoff(Dtype::f32) * condition +
         half_min_subnormal(Dtype::f32);
}

// The same on data of one sign, where partial sums grow steadily: the roundings of a chain of
// `chain` additions are a random walk with a standard deviation of at most u condition sqrt(chain)
// / 3, so 2 sqrt(chain) is six of them. 8 covers the sums of the chains, alpha and beta. `chain` is
// the longest sequential sum of the variant.
inline double gemm_f32_positive_tolerance(std::int64_t chain, double condition) {
  return (8 + 2 * std::sqrt(static_cast<double>(chain))) * unit_roundoff(Dtype::f32) * condition +
         half_min_subnormal(Dtype::f32);
}

// A sum of `length` f32 numbers in `chains` parallel sequential sums, merged by a tree.
//
// On zero-mean data a chain of c = length / chains terms errs with variance u^2 sum_j |partial_j|^2
// / 3 = u^2 |x|^2 c / 6, and each level of the tree with u^2 |x|^2 / 3 (|x| is the Euclidean norm).
// L = log2(length) + length / (2 chains) is three times that sum, and 6 u |x| sqrt(L) ten standard
// deviations. 2 u |S| covers the last roundings of the result. The cap is twice the deterministic
// bound, which holds for every order: for short sums the statistical bound would be looser.
inline double sum_f32_tolerance(double sum, double norm2, double sum_abs, std::int64_t length,
                                std::int64_t chains) {
  if (length == 0) return 0;
  const double u = unit_roundoff(Dtype::f32);
  const auto n = static_cast<double>(length);
  const double walk = std::log2(n) + n / (2 * static_cast<double>(chains));
  const double statistical = u * (2 * std::fabs(sum) + 6 * norm2 * std::sqrt(walk));
  const double deterministic = 2 * (n + 1) * u * sum_abs;
  return std::min(statistical, deterministic);
}

// The same on data of one sign; see gemm_f32_positive_tolerance.
inline double sum_f32_positive_tolerance(std::int64_t chain, double sum_abs) {
  return (8 + 2 * std::sqrt(static_cast<double>(chain))) * unit_roundoff(Dtype::f32) * sum_abs;
}

// Softmax in f32; `distance` is |x - m|, `chain` the variant's longest sequential sum of
// exponentials.
//
// x - m is rounded by u |x - m|, which the exponential turns into a relative error of that size. 8
// u: the element's exponential (at most 2 ulp = 4 u), the error of the exponentials in the sum, and
// the division with its rounding. The sum has positive terms: its partial sums grow like j / n. An
// addition errs by up to half an ulp of them: a standard deviation of u / sqrt(3) at a power of
// two, and half of that just before the next one. A chain of n thus has u sqrt(0.56 / 3 n / 3) =
// 0.25 u sqrt(n); measured for exponentials of normal data: 0.24 to 0.26 for n = 32 ... 16384. 1.5
// is six standard deviations: the largest of 46000 rows was 1.1, the largest error 0.6 of the
// bound. (One correct row in about 5000 exceeds three.) The last term: a subnormal exponential has
// an absolute error of 2 ulp, and the quotient one of half an ulp.
inline double softmax_f32_tolerance(double probability, double distance, std::int64_t chain) {
  constexpr double kSubnormalUlps = 2.5;
  if (std::isinf(distance)) return 0;
  constexpr double kSixDeviations = 1.5;
  return (8 + distance + kSixDeviations * std::sqrt(static_cast<double>(chain))) *
             unit_roundoff(Dtype::f32) * probability +
         kSubnormalUlps * min_subnormal(Dtype::f32);
}

// sum of a row of stored probabilities - 1|: the f32 computation errs by (8 + sqrt(columns)) u, and
// storing each by at most u_out of the largest, or half the smallest subnormal: 58,119 equal f16
// probabilities are all rounded up, and sum to 1.0011.
inline double softmax_row_sum_tolerance(Dtype output, std::int64_t columns, double largest) {
  const auto n = static_cast<double>(columns);
  return (8 + std::sqrt(n)) * unit_roundoff(Dtype::f32) +
         n * (unit_roundoff(output) * largest + half_min_subnormal(output));
}

// A result computed in f32 within `computed` of the oracle and then stored in a narrower format by
// one rounding: half an ulp. The other 0.01 ulp is slack because `computed` is statistical; a
// second rounding in the narrow format exceeds it by far.
inline double stored_tolerance(Dtype output, double expected, double computed) {
  if (output == Dtype::f32 || output == Dtype::f64) return computed;
  return 0.51 * ulp(output, expected) + computed;
}

// Tensor Cores with f16, bf16 or TF32 inputs and f32 accumulators: their adders align and truncate
// blocks (Fasi et al., PeerJ CS 330, 2021), so the constant has a part that grows with k: 0.25
// sqrt(k), from a model of such an adder. An H200 stays within it. Zero-mean data.
//
// Products are exact in f32 (11 + 11 bits), so rounding the inputs is up to the caller: f16 and
// bf16 inputs are used as they are; for kernels that declare TF32 the oracle takes tf32_rounded
// inputs.
inline double gemm_matrix_unit_tolerance(std::int64_t k, double condition) {
  return (16 + 0.25 * std::sqrt(static_cast<double>(k))) * unit_roundoff(Dtype::f32) * condition +
         half_min_subnormal(Dtype::f32);
}

// A model of the adders of a GPU's Tensor Cores; they are not documented. Fasi, Higham, Mikaitis
// and Pranesh (PeerJ CS 7:e330, 2021) found on a V100, a T4 and an A100 that a group of exact
// products and the accumulator is aligned to the largest of them, and that the bits shifted out are
// truncated. Group sizes and bit counts: the models of Khattak and Mikaitis (arXiv 2512.07004;
// A100TC.m and H100TC.m of github.com/north-numerical-computing/MATLAB-tensor-core), which they
// compared bit by bit with these GPUs, for mma instructions with f32 accumulators. An H200's
// products of positive numbers stayed within the bound that follows from these models.
struct MatrixUnit {
  int products;      // added to the accumulator at once
  int fraction_bits; // kept of each product after alignment
};

// For inputs of this type (f32: TF32) and compute capability. Later GPUs count as Hopper.
inline MatrixUnit matrix_unit(Dtype input, int compute_major) {
  const bool tf32 = input == Dtype::f32;
  if (compute_major <= 7) return {4, 23};
  if (compute_major == 8) return {tf32 ? 4 : 8, 24};
  return {tf32 ? 8 : 16, 25};
}

// Tensor Cores on data of one sign, where truncation errors accumulate.
//
// A step adds p products to a partial sum S_j and truncates each at 2^-f of the largest exponent,
// which is at most that of S_j after a few groups. Each product loses less than 2^-f S_j, on
// average half of that, since the lower bits are arbitrary. The accumulator loses nothing: it has
// 24 bits and f >= 23. Truncating the sum to f32 loses less than 2 u S_j, on average u S_j (u =
// 2^-24). The k / p partial sums grow steadily to the condition, so their mean is half of it: k /
// (2 p) (p 2^(24 - f) / 2 + 1) u condition, which is 0.19 k for Hopper's TF32 and 0.16 k for its
// 16-bit types. Exponents are below the sum by up to a factor of 2, so the true mean is about 0.7
// of that. The rest covers the scatter and the f32 additions that merge partial sums (as above).
inline double gemm_matrix_unit_positive_tolerance(std::int64_t k, double condition,
                                                  const MatrixUnit& unit) {
  const double lost = unit.products * std::ldexp(1.0, 24 - unit.fraction_bits) / 2 + 1;
  return lost / (2 * unit.products) * static_cast<double>(k) * unit_roundoff(Dtype::f32) *
             condition +
         gemm_f32_positive_tolerance(k, condition);
}

// A library that may use TF32, compared with the oracle of a kernel that does. The kernel rounds
// its factors by u; the library's may differ from them by at most 3 u, whether it rounds, truncates
// (2 u) or keeps all bits; u = 2^-11. Both factors of a product: 6 u + (3 u)^2.
inline double gemm_tf32_library_tolerance(std::int64_t k, double condition) {
  constexpr double kFactor = 1 + 3 * 0x1p-11;
  return (kFactor * kFactor - 1) * condition + gemm_matrix_unit_tolerance(k, condition);
}

// A Tensor Core result, stored in `output`.
inline double gemm_xf16_tolerance(Dtype output, double expected, std::int64_t k, double condition) {
  return stored_tolerance(output, expected, gemm_matrix_unit_tolerance(k, condition));
}

// --- The same for complete results.

inline std::vector<double> gemm_f32_tolerances(const GemmOracle& oracle, std::int64_t k) {
  std::vector<double> bounds;
  for (const double condition : oracle.condition)
    bounds.push_back(gemm_f32_tolerance(k, condition));
  return bounds;
}

inline std::vector<double> sum_f32_tolerances(const SumOracle& oracle, std::int64_t length,
                                              std::int64_t chains) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.value.size(); ++i)
    bounds.push_back(
        sum_f32_tolerance(oracle.value[i], oracle.norm2[i], oracle.sum_abs[i], length, chains));
  return bounds;
}

inline std::vector<double> softmax_tolerances(const SoftmaxOracle& oracle, Dtype output,
                                              std::int64_t chain) {
  std::vector<double> bounds;
  for (std::size_t i = 0; i < oracle.value.size(); ++i) {
    const double p = oracle.value[i];
    bounds.push_back(
        std::isnan(p)
            ? 0
            : stored_tolerance(output, p, softmax_f32_tolerance(p, oracle.distance[i], chain)));
  }
  return bounds;
}

// u times the condition: the unit for comparing accuracy with a vendor's.
inline std::vector<double> error_units(Dtype dtype, std::span<const double> condition) {
  std::vector<double> units;
  for (const double value : condition) units.push_back(unit_roundoff(dtype) * std::fabs(value));
  return units;
}

} // namespace kg::test
