// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How far from the fp64 oracle a correct kernel may be: absolute bounds for one element, in units
// of its condition. A bound that depended on the size of the data alone would be too loose where
// terms cancel or too tight where they do not.
//
// u = unit_roundoff(dtype) = half an ulp of 1. Elementwise operations have no entry: they are
// correctly rounded, so their tolerance is 0 (oracle.h). Every result is finite and >= 0. A
// constant changes only together with its derivation.
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

// Rounding a result into the subnormal range errs by half its spacing however small the result.
inline double half_min_subnormal(Dtype dtype) { return min_subnormal(dtype) / 2; }

// An f32 matrix product on zero-mean data; `condition` is |alpha| (|A||B|)_ij + |beta||C_ij|, k the
// length of the sum.
//
// k + 2 is the deterministic bound: each term passes through at most k roundings of product and
// sum, one of alpha and one of the addition of beta C (Higham, Accuracy and Stability, 2nd
// ed., 3.1). It binds for k < 14 only. Beyond, the roundings of a zero-mean sum do not add up: a
// partial sum of j terms has size s^2 sqrt(j), its roundings give the total a deviation of u s^2 k
// / sqrt(6), while the condition is 0.64 k s^2. So the error is about 0.64 u condition for every k.
// The largest of 10^6 sequential sums was 6.7, of eight-way sums 1.5; TF32 inputs give 204 (k =
// 16384) and more. 16 lies between.
inline double gemm_f32_tolerance(std::int64_t k, double condition) {
  constexpr double kZeroMean = 16;
  return std::min(static_cast<double>(k + 2), kZeroMean) * unit_roundoff(Dtype::f32) * condition +
         half_min_subnormal(Dtype::f32);
}

// The same on data of one sign, where partial sums grow steadily: the roundings of a chain of
// `chain` additions are a random walk of deviation u condition sqrt(chain) / 3 at most, so 2
// sqrt(chain) is six of them; 8 covers the sums of the chains, alpha and beta. `chain` is the
// longest sequential sum of the variant.
inline double gemm_f32_positive_tolerance(std::int64_t chain, double condition) {
  return (8 + 2 * std::sqrt(static_cast<double>(chain))) * unit_roundoff(Dtype::f32) * condition +
         half_min_subnormal(Dtype::f32);
}

// A sum of `length` f32 numbers in `chains` parallel sequential sums, joined by a tree.
//
// On zero-mean data a chain of c = length / chains terms errs with variance u^2 sum_j |partial_j|^2
// / 3 = u^2 |x|^2 c / 6 and each level of the tree with u^2 |x|^2 / 3 (|x| the Euclidean norm); L =
// log2(length) + length / (2 chains) is three times that sum, and 6 u |x| sqrt(L) ten deviations. 2
// u |S| covers the last roundings of the result. The cap is twice the deterministic bound, which no
// order can break: on short sums the statistical bound must not be the looser one.
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

// Softmax in f32; `distance` is |x - m|, `chain` the longest sequential sum of exponentials of the
// variant.
//
// x - m is rounded by u |x - m|, which the exponential turns into a relative error of that size.
// 8 u: the exponential of the element (2 ulp = 4 u at most), the error that the exponentials bring
// into the sum, the division and its rounding. The sum has positive terms: its partial sums grow
// like j / n, and an addition errs by up to half an ulp of them, u / sqrt(3) of it as deviation
// where the partial sum is a power of two and half of that before the next one. Over a chain of n
// that is u sqrt(0.56 / 3 n / 3) = 0.25 u sqrt(n); measured for exponentials of normal data: 0.24
// to 0.26 for n = 32 ... 16384. 1.5 is six deviations: the largest of 46000 rows was 1.1, the
// largest error 0.6 of the bound. (Three deviations are exceeded by one correct row in about 5000.)
// The last term: an exponential that is subnormal is 2 ulp of absolute error off, and so may the
// quotient be by half of one.
inline double softmax_f32_tolerance(double probability, double distance, std::int64_t chain) {
  constexpr double kSubnormalUlps = 2.5;
  if (std::isinf(distance)) return 0;
  constexpr double kSixDeviations = 1.5;
  return (8 + distance + kSixDeviations * std::sqrt(static_cast<double>(chain))) *
             unit_roundoff(Dtype::f32) * probability +
         kSubnormalUlps * min_subnormal(Dtype::f32);
}

// |sum of a row of stored probabilities - 1|: the f32 computation errs by (8 + sqrt(columns)) u,
// storing each of them by at most u_out of the largest, or by half of the least subnormal: 58,119
// equal probabilities of f16 are all rounded up, and sum to 1.0011.
inline double softmax_row_sum_tolerance(Dtype output, std::int64_t columns, double largest) {
  const auto n = static_cast<double>(columns);
  return (8 + std::sqrt(n)) * unit_roundoff(Dtype::f32) +
         n * (unit_roundoff(output) * largest + half_min_subnormal(output));
}

// A result that was computed in f32 within `computed` of the oracle and then stored in a narrower
// format by one rounding: half an ulp. The 0.01 ulp more is slack for `computed` being statistical;
// a second rounding in the narrow format is far over it.
inline double stored_tolerance(Dtype output, double expected, double computed) {
  if (output == Dtype::f32 || output == Dtype::f64) return computed;
  return 0.51 * ulp(output, expected) + computed;
}

// Matrix units with f16, bf16 or TF32 inputs and f32 accumulators: their adders truncate and align
// blocks (Fasi et al., PeerJ CS 330, 2021), so the constant has a part that grows with k: 0.25
// sqrt(k) from a model of such an adder. An H200 keeps within it. Zero-mean data.
//
// Their products are exact in f32 (11 + 11 bits), so rounding the inputs is the caller's matter:
// f16 and bf16 inputs are what they are; for a kernel that declares TF32 the oracle takes
// tf32_rounded inputs.
inline double gemm_matrix_unit_tolerance(std::int64_t k, double condition) {
  return (16 + 0.25 * std::sqrt(static_cast<double>(k))) * unit_roundoff(Dtype::f32) * condition +
         half_min_subnormal(Dtype::f32);
}

// How the adders of a GPU's matrix units work, as far as errors go. They are not documented. Fasi,
// Higham, Mikaitis and Pranesh (PeerJ CS 7:e330, 2021) found on a V100, a T4 and an A100 that a
// group of exact products and the accumulator is aligned to the largest of them and that what falls
// out is cut off. Sizes of groups and bits: the models of Khattak and Mikaitis (arXiv 2512.07004;
// A100TC.m and H100TC.m of github.com/north-numerical-computing/MATLAB-tensor-core), whose authors
// compared them bit by bit with these GPUs, for mma instructions of f32 accumulators; here an
// H200's products of positive numbers were held to the bound that follows from them.
struct MatrixUnit {
  int products;      // that are added to the accumulator at once
  int fraction_bits; // kept of each when they are aligned
};

// Of inputs of that type (f32: TF32) and the GPU's compute capability. Later GPUs count as Hopper.
inline MatrixUnit matrix_unit(Dtype input, int compute_major) {
  const bool tf32 = input == Dtype::f32;
  if (compute_major <= 7) return {4, 23};
  if (compute_major == 8) return {tf32 ? 4 : 8, 24};
  return {tf32 ? 8 : 16, 25};
}

// A matrix unit on data of one sign, where what is cut off adds up one way.
//
// A step adds p products to a partial sum S_j and cuts each off at 2^-f of the largest exponent,
// which is at most that of S_j once a few groups are in: less than 2^-f S_j is lost of each
// product, and half of that in the mean, since the bits below are any. Nothing is lost of the
// accumulator, which has 24 bits and f >= 23. Cutting the sum off to f32 loses less than 2 u S_j,
// and u S_j in the mean (u = 2^-24). The k / p partial sums grow steadily to the condition, so
// their mean is half of it: k / (2 p) (p 2^(24 - f) / 2 + 1) u condition, which is 0.19 k for
// Hopper's TF32 and 0.16 k for its 16-bit types. Exponents are below the sum by up to a factor 2,
// so the true mean is about 0.7 of that. The rest covers what scatters and what is joined in f32
// (as above).
inline double gemm_matrix_unit_positive_tolerance(std::int64_t k, double condition,
                                                  const MatrixUnit& unit) {
  const double lost = unit.products * std::ldexp(1.0, 24 - unit.fraction_bits) / 2 + 1;
  return lost / (2 * unit.products) * static_cast<double>(k) * unit_roundoff(Dtype::f32) *
             condition +
         gemm_f32_positive_tolerance(k, condition);
}

// A library that may use TF32, beside the oracle of a kernel that does: its factors are at most 3 u
// off the kernel's, which are rounded by u, whether it rounds, cuts bits off (2 u) or leaves them
// as they are; u = 2^-11. Both factors of a product: 6 u, and (3 u)^2 more.
inline double gemm_tf32_library_tolerance(std::int64_t k, double condition) {
  constexpr double kFactor = 1 + 3 * 0x1p-11;
  return (kFactor * kFactor - 1) * condition + gemm_matrix_unit_tolerance(k, condition);
}

// What a matrix unit gives, stored in `output`.
inline double gemm_xf16_tolerance(Dtype output, double expected, std::int64_t k, double condition) {
  return stored_tolerance(output, expected, gemm_matrix_unit_tolerance(k, condition));
}

// --- The same for whole results.

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

// u times the condition: the unit in which accuracies are compared with a vendor's.
inline std::vector<double> error_units(Dtype dtype, std::span<const double> condition) {
  std::vector<double> units;
  for (const double value : condition) units.push_back(unit_roundoff(dtype) * std::fabs(value));
  return units;
}

} // namespace kg::test
