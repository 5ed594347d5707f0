// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The data of the correctness cases. Every fill is a pure function of its arguments and the seed,
// contains only numbers that its dtype represents, and has properties that fills_test.cpp checks.
// Matrices are dense and row-major.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/random.h"

namespace kg::test {

// Tensor ids: two inputs of one case never share random numbers.
enum class Tensor : std::uint64_t { a = 1, b = 2, c = 3 };
Random random_of(std::uint64_t seed, Tensor tensor);

struct Fill {
  std::string name;
  std::string description;
  std::vector<double> values;
};

struct FillPair {
  std::string name;
  std::string description;
  std::vector<double> a;
  std::vector<double> b;
};

// --- Exact integers: every legal summation order gives the same bits. (The exactness argument is
// that of oneDNN's benchdnn, safe accumulators; the wide forms are our own.)

// r1     8-bit by 8-bit: finds wrong indices and lost terms.
// r1w_a  A has odd integers as wide as the dtype's arithmetic must keep (f32 13 bits, f16 11, bf16
//        8), B has -1, 0, 1: rounding inputs to a narrower format, or accumulating in one, changes
//        the result.
// r1w_b  the same with A and B exchanged.
enum class ProductRange { r1, r1w_a, r1w_b };

struct ProductShape {
  std::int64_t m, n, k;
};

// The largest sum of |terms| with exact partial sums: 2^24 in an f32 accumulator, 65504 for f16
// outputs (the largest finite number; no exact reference may contain an infinity).
double exact_limit(Dtype output);

// A (m x k) and B (k x n) with sum_k |a_ik b_kj| <= limit for each i, j, by construction: each row
// of A has at most limit / (max|a| max|b|) nonzeros. The last 32 columns of A (fewer for a smaller
// budget) and the last column of B have no zeros, to expose a dropped K tail or last column. The
// other nonzeros are stratified: one in each of equal parts of the row. If alpha or beta scale the
// result, pass a smaller limit.
FillPair exact_product(Dtype input, Dtype output, ProductRange range, ProductShape shape,
                       double limit = 0, std::uint64_t seed = test::seed());

// wide: odd integers as wide as in r1w, at most limit / max nonzeros per slice. dense: no zeros if
// length <= limit, so every lost term shows.
enum class SumRange { wide, dense };

// slices x length integers with sum |x| <= exact_limit(output) in each slice.
Fill exact_sums(Dtype input, Dtype output, SumRange range, std::int64_t slices, std::int64_t length,
                std::uint64_t seed = test::seed());

// Integers in [-max_abs, max_abs], for example the C of a GEMM.
Fill integers(Dtype dtype, std::int64_t count, std::int64_t max_abs, Tensor tensor,
              std::uint64_t seed = test::seed());

// a and b whose result under `op` is exact in `dtype`, but a, b or the result does not fit the next
// narrower format: rounding to TF32 or bf16 anywhere changes nearly every element.
FillPair exact_elementwise(Dtype dtype, elementwise::Op op, std::int64_t count,
                           std::uint64_t seed = test::seed());

// n x n. A times it is A: the sums are exact in every order, and if A uses all significand bits,
// any rounding of the inputs changes nearly every element.
std::vector<double> identity(std::int64_t n);

// --- Random values, rounded to the dtype, using all significand bits.

Fill normal(Dtype dtype, std::int64_t count, Tensor tensor, std::uint64_t seed = test::seed());

// Standard normals; for integer types, uniform over all numbers; for i64, uniform over 53 bits,
// shifted left by an amount that depends on the index.
Fill random_numbers(Dtype dtype, std::int64_t count, Tensor tensor,
                    std::uint64_t seed = test::seed());

// Uniform on (0, 1]: sums without cancellation. Never use it as a case's only data, since it hides
// reduced precision.
Fill positive(Dtype dtype, std::int64_t count, Tensor tensor, std::uint64_t seed = test::seed());

// Normal, with one element in every `every` multiplied by a power of two near `factor`; clipped to
// the largest finite number.
Fill outliers(Dtype dtype, std::int64_t count, std::int64_t every, double factor, Tensor tensor,
              std::uint64_t seed = test::seed());

// --- Softmax rows with exactly known results.

struct SoftmaxFill {
  Fill input;
  std::vector<double> expected;
};

// Row r has 2^j elements at a plateau and all others at least 4096 below it. The result is exactly
// 2^-j there and 0 elsewhere, provided exp(0) is 1. j runs from 0 (one-hot) to floor(log2(columns))
// (a constant row if columns is a power of two). The plateau is at 0 in the first rows and then at
// levels that shift invariance must remove.
SoftmaxFill softmax_plateaus(Dtype dtype, std::int64_t rows, std::int64_t columns,
                             std::uint64_t seed = test::seed());

// --- Raw bits.

struct SpecialValue {
  std::string name;
  std::uint64_t bits;
};

// Zeros, infinities, NaNs with payloads, the limits of the subnormal and normal ranges, one and its
// neighbours, in both signs.
std::vector<SpecialValue> special_values(Dtype dtype);

struct BitPairs {
  std::vector<std::uint64_t> a;
  std::vector<std::uint64_t> b;
};

// Each special value paired with each.
BitPairs special_pairs(Dtype dtype);

// Every bit pattern of a 16-bit type, ordered so that adjacent patterns are far apart in memory:
// exhaustive data for operations of one argument.
std::vector<std::uint64_t> all_bits(Dtype dtype);

// Patterns for data movement: distinct within each aligned run of 2^32 (32-bit types) or 2^16
// (16-bit types) elements, and covering all kinds of numbers, NaN payloads included.
std::vector<std::uint64_t> unique_bits(Dtype dtype, std::int64_t count);

} // namespace kg::test
