// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"
#include "tests/oracle/random.h"
#include "tests/oracle/strided.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

float apply(elementwise::Op op, float a, float b) {
  switch (op) {
  case elementwise::Op::add: return a + b;
  case elementwise::Op::sub: return a - b;
  case elementwise::Op::mul: return a * b;
  case elementwise::Op::div: return a / b;
  }
  return 0;
}

// Whatever the gaps: runs are as long as they can be, and every element is in one, at its place.
TEST(Strided, runs_of_neighbours) {
  struct Case {
    Strided view;
    std::int64_t runs;
  };
  for (const auto& [view, runs] :
       {Case{contiguous({2, 3, 4}, 5), 1}, Case{matrix(3, 4, 6), 3},
        Case{transposed(matrix(3, 4, 6)), 12}, Case{{{2, 3, 4}, {18, 6, 1}, 0}, 6},
        Case{{{2, 1, 4}, {4, 6, 1}, 0}, 1}, Case{contiguous({3, 0}), 0}, Case{contiguous({}), 1}}) {
    std::int64_t seen = 0, number = 0;
    view.for_each_run([&, &view = view](std::int64_t first, std::int64_t place, std::int64_t run) {
      EXPECT_EQ(first, number);
      for (std::int64_t i = 0; i < run; ++i) EXPECT_EQ(view.place(first + i), place + i);
      number += run;
      ++seen;
    });
    EXPECT_EQ(number, view.size());
    EXPECT_EQ(seen, runs);
  }
}

// The processor's f32 arithmetic is IEEE: it checks the double rounding of the oracle, subnormals
// and specials included.
TEST(Oracle, elementwise_f32_agrees_with_the_processor) {
  const BitPairs special = special_pairs(Dtype::f32);
  std::vector<float> a = elements_of_bits<float>(special.a);
  std::vector<float> b = elements_of_bits<float>(special.b);
  const Random random(seed(), 5);
  for (std::uint64_t i = 0; i < 300000; ++i) {
    a.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random.integer(i, 0, 0xFFFFFFFF))));
    // Every other pair has close exponents, where sums round.
    const float other = std::bit_cast<float>(
        static_cast<std::uint32_t>(random.integer(i + (1u << 30), 0, 0xFFFFFFFF)));
    b.push_back(i % 2 == 0 ? other : a.back() * static_cast<float>(random.normal(i)));
  }
  const Values wide_a = observe(a).values;
  const Values wide_b = observe(b).values;
  for (const elementwise::Op op :
       {elementwise::Op::add, elementwise::Op::sub, elementwise::Op::mul, elementwise::Op::div}) {
    const Values expected = elementwise_oracle(op, Dtype::f32, wide_a, wide_b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double result = apply(op, a[i], b[i]);
      if (std::isnan(expected[i])) {
        ASSERT_TRUE(std::isnan(result)) << i;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(result), std::bit_cast<std::uint64_t>(expected[i]))
            << std::hexfloat << a[i] << " " << b[i];
      }
    }
  }
}

// The contract of the f16 and bf16 kernels: the f32 result rounded once more is the correctly
// rounded one.
TEST(Oracle, elementwise_through_f32_is_correctly_rounded) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const Random random(seed(), 6);
    Values a, b;
    for (std::uint64_t i = 0; i < 200000; ++i) {
      a.push_back(decode(dtype, static_cast<std::uint64_t>(random.integer(i, 0, 65535))));
      b.push_back(
          decode(dtype, static_cast<std::uint64_t>(random.integer(i + (1u << 30), 0, 65535))));
    }
    for (const elementwise::Op op :
         {elementwise::Op::add, elementwise::Op::sub, elementwise::Op::mul, elementwise::Op::div}) {
      const Values once = elementwise_oracle(op, dtype, a, b);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double twice =
            round_to(dtype, apply(op, static_cast<float>(a[i]), static_cast<float>(b[i])));
        if (std::isnan(once[i])) {
          ASSERT_TRUE(std::isnan(twice)) << i;
        } else {
          ASSERT_EQ(twice, once[i]) << std::hexfloat << a[i] << " " << b[i];
        }
      }
    }
  }
}

TEST(Oracle, sums_by_hand) {
  const Values x = {1, -2, 3, 4, 5, -6};
  const SumOracle rows = row_sums_oracle(x, 2, 3);
  EXPECT_EQ(rows.value, (Values{2, 3}));
  EXPECT_EQ(rows.sum_abs, (Values{6, 15}));
  EXPECT_DOUBLE_EQ(rows.norm2[0], std::sqrt(14.0));
  EXPECT_DOUBLE_EQ(rows.norm2[1], std::sqrt(77.0));
  EXPECT_EQ(column_sums_oracle(x, 2, 3).value, (Values{5, 3, -3}));
  EXPECT_EQ(row_sums_oracle({}, 1, 0).value, Values{0});
  EXPECT_TRUE(row_sums_oracle({}, 0, 5).value.empty());
  EXPECT_THROW(row_sums_oracle(x, 2, 2), Error);
}

TEST(Oracle, sums_survive_cancellation_and_follow_ieee_at_infinity) {
  // A plain fp64 sum gives 0 for the first row: 1 is lost beside 1e17.
  EXPECT_EQ(row_sums_oracle(Values{1, 1e17, -1e17}, 1, 3).value[0], 1);
  EXPECT_EQ(row_sums_oracle(Values{1, kInfinity, 2}, 1, 3).value[0], kInfinity);
  EXPECT_TRUE(std::isnan(row_sums_oracle(Values{kInfinity, -kInfinity}, 1, 2).value[0]));
  EXPECT_TRUE(std::isnan(row_sums_oracle(Values{1, kNan}, 1, 2).value[0]));
}

TEST(Oracle, softmax_by_hand) {
  const double e = std::exp(1.0);
  const SoftmaxOracle oracle = softmax_oracle(Values{0, 1, 0, 1000, -kInfinity, 1000}, 2, 3);
  EXPECT_DOUBLE_EQ(oracle.value[0], 1 / (2 + e));
  EXPECT_DOUBLE_EQ(oracle.value[1], e / (2 + e));
  EXPECT_EQ(Values(oracle.value.begin() + 3, oracle.value.end()), (Values{0.5, 0, 0.5}));
  EXPECT_EQ(oracle.distance, (Values{1, 0, 1, 0, kInfinity, 0}));
}

TEST(Oracle, softmax_of_undefined_rows_is_nan) {
  const Values x = {kNan, 1, kInfinity, 1, -kInfinity, -kInfinity, 1, 1};
  const SoftmaxOracle oracle = softmax_oracle(x, 4, 2);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(oracle.value[i])) << i;
  EXPECT_EQ(oracle.distance, Values(8, 0.0));
  EXPECT_EQ(oracle.value[7], 0.5);
  EXPECT_TRUE(softmax_oracle({}, 3, 0).value.empty());
}

TEST(Oracle, transpose_by_hand) {
  EXPECT_EQ(transpose_oracle(std::vector<int>{1, 2, 3, 4, 5, 6}, 2, 3),
            (std::vector<int>{1, 4, 2, 5, 3, 6}));
  EXPECT_THROW(transpose_oracle(std::vector<int>{1, 2}, 2, 3), Error);
}

// A = [1 2; -3 4; 0 5], B = [1 0 -1 2; 3 -1 0 1], C = -1 everywhere.
const Values kA = {1, 2, -3, 4, 0, 5};
const Values kB = {1, 0, -1, 2, 3, -1, 0, 1};
const Values kAB = {7, -2, -1, 4, 9, -4, 3, -2, 15, -5, 0, 5};
const Values kAbsAB = {7, 2, 1, 4, 15, 4, 3, 10, 15, 5, 0, 5};

TEST(Oracle, gemm_by_hand_for_all_transpositions_and_leading_dimensions) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const Strided a = ta ? transposed(matrix(2, 3, 5)) : matrix(3, 2, 4);
      const Strided b = tb ? transposed(matrix(4, 2, 3)) : matrix(2, 4, 4);
      const Strided c = matrix(3, 4, 6);
      const Values stored_a = scatter(kA, a);
      const Values stored_b = scatter(kB, b);
      const Values stored_c = scatter(Values(12, -1.0), c);
      const GemmProblem problem{a, b, c, 2, 0.5};
      const GemmOracle full = gemm_oracle(problem, stored_a, stored_b, stored_c);
      std::vector<Position> all;
      for (std::int64_t i = 0; i < 12; ++i) all.push_back({i / 4, i % 4});
      const GemmOracle sampled = gemm_oracle_sampled(problem, stored_a, stored_b, stored_c, all);
      for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(full.value[i], 2 * kAB[i] - 0.5) << i;
        EXPECT_EQ(full.condition[i], 2 * kAbsAB[i] + 0.5) << i;
      }
      EXPECT_EQ(sampled.value, full.value);
      EXPECT_EQ(sampled.condition, full.condition);
    }
  }
}

TEST(Oracle, gemm_reads_nothing_that_a_zero_factor_excludes) {
  const GemmProblem beta0{matrix(3, 2, 2), matrix(2, 4, 4), matrix(3, 4, 4), 1, 0};
  EXPECT_EQ(gemm_oracle(beta0, kA, kB, Values(12, kNan)).value, kAB);
  EXPECT_EQ(gemm_oracle(beta0, kA, kB, {}).value, kAB);
  GemmProblem alpha0 = beta0;
  alpha0.alpha = 0;
  alpha0.beta = 3;
  const GemmOracle scaled = gemm_oracle(alpha0, Values(6, kNan), {}, Values(12, 2.0));
  EXPECT_EQ(scaled.value, Values(12, 6.0));
  EXPECT_EQ(scaled.condition, Values(12, 6.0));
  alpha0.beta = 0;
  EXPECT_EQ(gemm_oracle(alpha0, {}, {}, {}).value, Values(12, 0.0));
  GemmProblem k0{matrix(3, 0, 1), matrix(0, 4, 4), matrix(3, 4, 4), 1, 1};
  EXPECT_EQ(gemm_oracle(k0, {}, {}, Values(12, 2.0)).value, Values(12, 2.0));
  k0.alpha = kNan;
  EXPECT_EQ(gemm_oracle(k0, {}, {}, Values(12, 2.0)).value, Values(12, 2.0));
}

TEST(Oracle, gemm_propagates_nan_also_through_zeros_and_checks_shapes) {
  const GemmProblem problem{matrix(1, 2, 2), matrix(2, 1, 1), matrix(1, 1, 1)};
  EXPECT_TRUE(std::isnan(gemm_oracle(problem, Values{0, 1}, Values{kInfinity, 1}, {}).value[0]));
  const GemmProblem wrong{matrix(1, 2, 2), matrix(3, 1, 1), matrix(1, 1, 1)};
  EXPECT_THROW(gemm_oracle(wrong, Values(2), Values(3), {}), Error);
  EXPECT_THROW(gemm_oracle(problem, Values{1}, Values{1, 1}, {}), Error);
  EXPECT_THROW(
      gemm_oracle_sampled(problem, Values{1, 1}, Values{1, 1}, {}, std::vector<Position>{{0, 1}}),
      Error);
}

TEST(Oracle, blocked_gemm_equals_single_entries_beyond_one_block) {
  const std::int64_t m = 37, n = 41, k = 301;
  const FillPair fill = exact_product(Dtype::f32, Dtype::f32, ProductRange::r1, {m, n, k});
  const GemmProblem problem{matrix(m, k, k), matrix(k, n, n), matrix(m, n, n)};
  const GemmOracle full = gemm_oracle(problem, fill.a, fill.b, {});
  const std::vector<Position> positions = sample_positions(m, n, 200, seed());
  EXPECT_EQ(positions.size(), static_cast<std::size_t>(2 * (m + n) + 200));
  const GemmOracle some = gemm_oracle_sampled(problem, fill.a, fill.b, {}, positions);
  for (std::size_t s = 0; s < positions.size(); ++s) {
    const auto at = static_cast<std::size_t>(positions[s].row * n + positions[s].column);
    ASSERT_EQ(some.value[s], full.value[at]);
    ASSERT_EQ(some.condition[s], full.condition[at]);
  }
}

} // namespace
} // namespace kg::test
