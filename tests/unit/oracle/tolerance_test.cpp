// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/tolerance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
constexpr double kU = 0x1p-24;

// Each bound beside its value worked out by hand, and the oracle value that it belongs to.
struct Bound {
  std::string name;
  Dtype dtype;
  double expected;
  double tolerance;
  double by_hand;
};

std::vector<Bound> bounds() {
  return {
      {"gemm_short_sum", Dtype::f32, 1.5, gemm_f32_tolerance(3, 10), 5 * kU * 10},
      {"gemm_k14_meets_16", Dtype::f32, 1.5, gemm_f32_tolerance(14, 1), 16 * kU},
      {"gemm_long_sum", Dtype::f32, -2, gemm_f32_tolerance(4096, 2607), 16 * kU * 2607},
      {"gemm_positive", Dtype::f32, 900, gemm_f32_positive_tolerance(1024, 900), 72 * kU * 900},
      {"gemm_tf32", Dtype::f32, 3, gemm_matrix_unit_tolerance(64, 10), 18 * kU * 10},
      {"gemm_tf32_library", Dtype::f32, 3, gemm_tf32_library_tolerance(64, 10),
       (6 * 0x1p-11 + 9 * 0x1p-22) * 10 + 18 * kU * 10},
      {"gemm_f16_out", Dtype::f16, 3, gemm_xf16_tolerance(Dtype::f16, 3, 64, 10),
       0.51 * 0x1p-9 + 18 * kU * 10},
      // L = 10 + 1024 / 512 = 12
      {"sum", Dtype::f32, 5, sum_f32_tolerance(5, 32, 900, 1024, 256),
       kU * (10 + 6 * 32 * std::sqrt(12.0))},
      // two terms: the cap of 2 (n + 1) u sum|x| binds
      {"sum_capped", Dtype::f32, 0.25, sum_f32_tolerance(0.25, 100, 0.75, 2, 1), 6 * kU * 0.75},
      {"sum_positive", Dtype::f32, 500, sum_f32_positive_tolerance(16, 500), 16 * kU * 500},
      {"softmax", Dtype::f32, 0.25, softmax_f32_tolerance(0.25, 3, 16), 17 * kU * 0.25},
      {"softmax_bf16", Dtype::bf16, 0.25,
       stored_tolerance(Dtype::bf16, 0.25, softmax_f32_tolerance(0.25, 3, 16)),
       0.51 * 0x1p-9 + 17 * kU * 0.25},
      {"softmax_f16_subnormal", Dtype::f16, 0x1p-20,
       stored_tolerance(Dtype::f16, 0x1p-20, softmax_f32_tolerance(0x1p-20, 2, 16)),
       0.51 * 0x1p-24 + 16 * kU * 0x1p-20},
      {"softmax_row_sum", Dtype::f32, 1, softmax_row_sum_tolerance(Dtype::bf16, 16, 0.5),
       12 * kU + 16 * (0x1p-8 * 0.5 + half_min_subnormal(Dtype::bf16))},
      {"softmax_row_sum_f16", Dtype::f32, 1, softmax_row_sum_tolerance(Dtype::f16, 16, 0x1p-16),
       12 * kU + 16 * (0x1p-27 + 0x1p-25)},
  };
}

class Tolerance : public testing::TestWithParam<Bound> {};

TEST_P(Tolerance, is_what_its_formula_says) {
  EXPECT_NEAR(GetParam().tolerance, GetParam().by_hand, 1e-12 * GetParam().by_hand);
}

TEST_P(Tolerance, accepts_nine_tenths_and_rejects_eleven) {
  const Bound& bound = GetParam();
  const Values expected = {bound.expected}, tolerance = {bound.tolerance};
  const auto accepts = [&](double share) {
    return compare({bound.dtype, {bound.expected + share * bound.tolerance}, {}},
                   {bound.dtype, {1}, expected, tolerance})
        .passed();
  };
  EXPECT_TRUE(accepts(0.9));
  EXPECT_TRUE(accepts(-0.9));
  EXPECT_FALSE(accepts(1.1));
  EXPECT_FALSE(accepts(-1.1));
}

INSTANTIATE_TEST_SUITE_P(tolerance, Tolerance, testing::ValuesIn(bounds()),
                         [](const auto& info) { return info.param.name; });

TEST(Tolerances, leave_room_for_subnormal_results) {
  EXPECT_EQ(gemm_f32_tolerance(4, 0), 0x1p-150);
  EXPECT_EQ(softmax_f32_tolerance(0, 100, 4), 2.5 * 0x1p-149);
  EXPECT_EQ(softmax_f32_tolerance(0, std::numeric_limits<double>::infinity(), 4), 0);
  EXPECT_EQ(sum_f32_tolerance(0, 0, 0, 0, 1), 0);
}

// The bounds against arithmetic that is legal and arithmetic that is not.

float cut(float x, int dropped_bits) {
  std::uint32_t bits = static_cast<std::uint32_t>(raw_bits(x));
  bits &= ~std::uint32_t{0} << dropped_bits;
  return from_raw_bits<float>(bits);
}

// m x n dots of length k; `prepare` is what the kernel does to its inputs.
Values products(const Values& a, const Values& b, std::int64_t m, std::int64_t n, std::int64_t k,
                const std::function<float(float)>& prepare, std::int64_t terms) {
  Values c;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < terms; ++l)
        sum += prepare(static_cast<float>(a[static_cast<std::size_t>(i * k + l)])) *
               prepare(static_cast<float>(b[static_cast<std::size_t>(l * n + j)]));
      c.push_back(sum);
    }
  }
  return c;
}

TEST(Tolerances, gemm_separates_sequential_f32_from_tf32_and_from_lost_terms) {
  constexpr std::int64_t kM = 32;
  for (const std::int64_t k : {1, 7, 64, 1024, 4096}) {
    const Fill a = normal(Dtype::f32, kM * k, Tensor::a);
    const Fill b = normal(Dtype::f32, k * kM, Tensor::b);
    const GemmOracle oracle = gemm_oracle({matrix(kM, k, k), matrix(k, kM, kM), matrix(kM, kM, kM)},
                                          a.values, b.values, {});
    const Values tolerance = gemm_f32_tolerances(oracle, k);
    const Values unit = error_units(Dtype::f32, oracle.condition);
    const Expectation expected{Dtype::f32, {kM, kM}, oracle.value, tolerance, unit};
    const auto judged = [&](const std::function<float(float)>& prepare, std::int64_t terms) {
      return compare({Dtype::f32, products(a.values, b.values, kM, kM, k, prepare, terms), {}},
                     expected);
    };
    const Comparison legal = judged([](float x) { return x; }, k);
    EXPECT_TRUE(legal.passed()) << legal.text();
    EXPECT_LT(legal.max_error, 8) << k; // the floor of the ratio against a vendor
    const Comparison tf32 = judged([](float x) { return cut(x, 13); }, k);
    EXPECT_GT(tf32.max_error, 10 * 16) << k;
    EXPECT_FALSE(tf32.passed());
    EXPECT_FALSE(judged([](float x) { return x; }, k - 1).passed()) << k;
  }
}

// A kernel that declares TF32 is judged on inputs rounded so; bf16 inputs are outside.
TEST(Tolerances, declared_tf32_separates_tf32_from_bf16) {
  constexpr std::int64_t kM = 32;
  for (const std::int64_t k : {64, 1024}) {
    const Values a = tf32_rounded(normal(Dtype::f32, kM * k, Tensor::a).values);
    const Values b = tf32_rounded(normal(Dtype::f32, k * kM, Tensor::b).values);
    const GemmOracle oracle =
        gemm_oracle({matrix(kM, k, k), matrix(k, kM, kM), matrix(kM, kM, kM)}, a, b, {});
    Values tolerance;
    for (const double condition : oracle.condition)
      tolerance.push_back(gemm_matrix_unit_tolerance(k, condition));
    const Expectation expected{Dtype::f32, {kM, kM}, oracle.value, tolerance};
    const auto accepts = [&](int dropped_bits) {
      const Values c = products(
          a, b, kM, kM, k, [=](float x) { return cut(x, dropped_bits); }, k);
      return compare({Dtype::f32, c, {}}, expected).passed();
    };
    EXPECT_TRUE(accepts(13)) << k; // nothing left to drop
    EXPECT_FALSE(accepts(16)) << k;
  }
}

TEST(Tolerances, sum_separates_legal_chains_from_lost_terms_and_bf16_partials) {
  for (const std::int64_t length : {1, 2, 33, 1024, 100000}) {
    for (const std::int64_t chains : {1, 32}) {
      const Fill x = normal(Dtype::f32, length, Tensor::a);
      const SumOracle oracle = row_sums_oracle(x.values, 1, length);
      const Values tolerance = sum_f32_tolerances(oracle, length, chains);
      const auto largest =
          std::max_element(x.values.begin(), x.values.end(),
                           [](double p, double q) { return std::fabs(p) < std::fabs(q); });
      constexpr std::int64_t kNone = -1;
      const auto accepts = [&](std::int64_t lost, int dropped_bits) {
        std::vector<float> parts(static_cast<std::size_t>(chains), 0.0F);
        for (std::int64_t i = 0; i < length; ++i) {
          float& part = parts[static_cast<std::size_t>(i % chains)];
          const auto term = static_cast<float>(x.values[static_cast<std::size_t>(i)]);
          if (i != lost) part = cut(part + term, dropped_bits);
        }
        for (std::size_t width = parts.size() / 2; width > 0; width /= 2)
          for (std::size_t p = 0; p < width; ++p) parts[p] += parts[p + width];
        return compare({Dtype::f32, {parts[0]}, {}}, {Dtype::f32, {1}, oracle.value, tolerance})
            .passed();
      };
      EXPECT_TRUE(accepts(kNone, 0)) << length;
      EXPECT_FALSE(accepts(largest - x.values.begin(), 0)) << length;
      EXPECT_FALSE(accepts(kNone, 16)) << length;
    }
  }
}

// One row per warp: 32 sequential sums and a tree.
TEST(Tolerances, softmax_separates_f32_from_half_precision_exponentials) {
  for (const std::int64_t columns : {2, 33, 1024}) {
    constexpr std::int64_t kRows = 50;
    constexpr std::int64_t kLanes = 32;
    const Fill x = normal(Dtype::f32, kRows * columns, Tensor::a);
    const SoftmaxOracle oracle = softmax_oracle(x.values, kRows, columns);
    const Values tolerance =
        softmax_tolerances(oracle, Dtype::f32, (columns + kLanes - 1) / kLanes + 5);
    const auto softmax = [&](int dropped_bits) {
      Values p;
      for (std::int64_t r = 0; r < kRows; ++r) {
        const auto at = [&](std::int64_t c) {
          return static_cast<float>(x.values[static_cast<std::size_t>(r * columns + c)]);
        };
        float most = at(0);
        for (std::int64_t c = 0; c < columns; ++c) most = std::max(most, at(c));
        std::array<float, kLanes> sums{};
        for (std::int64_t c = 0; c < columns; ++c)
          sums[static_cast<std::size_t>(c % kLanes)] += cut(std::exp(at(c) - most), dropped_bits);
        for (std::size_t width = kLanes / 2; width > 0; width /= 2)
          for (std::size_t lane = 0; lane < width; ++lane) sums[lane] += sums[lane + width];
        for (std::int64_t c = 0; c < columns; ++c)
          p.push_back(cut(std::exp(at(c) - most), dropped_bits) / sums[0]);
      }
      return compare({Dtype::f32, p, {}}, {Dtype::f32, {kRows, columns}, oracle.value, tolerance});
    };
    EXPECT_TRUE(softmax(0).passed()) << softmax(0).text();
    EXPECT_FALSE(softmax(13).passed()) << columns;
    EXPECT_FALSE(softmax(8).passed()) << columns;
  }
}

// The longest legal chain, one addition after the other, has room; the same chain in half precision
// or fed by half-precision exponentials has none.
TEST(Tolerances, softmax_gives_a_sequential_row_six_deviations) {
  for (const std::int64_t columns : {1024, 4096, 16384}) {
    const std::int64_t rows = (1 << 19) / columns;
    const Fill x = normal(Dtype::f32, rows * columns, Tensor::a);
    const SoftmaxOracle oracle = softmax_oracle(x.values, rows, columns);
    const Values tolerance = softmax_tolerances(oracle, Dtype::f32, columns);
    double squares = 0; // of the error of a sum in u sqrt(columns)
    const auto softmax = [&](double (*exponential)(float), double (*sum)(double)) {
      Values p;
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto* const row = x.values.data() + r * columns;
        const double most = *std::max_element(row, row + columns);
        std::vector<double> e(static_cast<std::size_t>(columns));
        double total = 0;
        double exact = 0;
        for (std::size_t c = 0; c < e.size(); ++c) {
          e[c] = exponential(static_cast<float>(row[c]) - static_cast<float>(most));
          total = sum(total + e[c]);
          exact += e[c];
        }
        const double error = (total / exact - 1) / (kU * std::sqrt(static_cast<double>(columns)));
        squares += error * error / static_cast<double>(rows);
        for (const double value : e) p.push_back(static_cast<float>(value / total));
      }
      return compare({Dtype::f32, p, {}}, {Dtype::f32, {rows, columns}, oracle.value, tolerance});
    };
    const auto f32 = [](double value) { return static_cast<double>(static_cast<float>(value)); };
    const auto f16 = [](double value) { return round_to(Dtype::f16, value); };
    const auto exp_f32 = [](float value) { return static_cast<double>(std::exp(value)); };
    const auto exp_f16 = [](float value) { return round_to(Dtype::f16, std::exp(value)); };
    const Comparison legal = softmax(exp_f32, f32);
    EXPECT_TRUE(legal.passed()) << legal.text();
    EXPECT_LT(legal.max_error, 0.9);
    EXPECT_GT(std::sqrt(squares), 0.1); // 0.25; as few as 32 rows leave 12 % to chance
    EXPECT_LT(std::sqrt(squares), 0.5);
    EXPECT_FALSE(softmax(exp_f32, f16).passed()) << columns;
    EXPECT_FALSE(softmax(exp_f16, f32).passed()) << columns;
  }
}

// Narrow outputs: one rounding is accepted and a second one, by way of 2 bits more, is not, over
// all of (0, 1].
TEST(Tolerances, stored_results_are_rounded_once) {
  const Fill x = positive(Dtype::f32, 20000, Tensor::a);
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    Values tolerance, once, twice;
    for (const double value : x.values) {
      tolerance.push_back(stored_tolerance(dtype, value, 0));
      once.push_back(round_to(dtype, value));
      const double coarse = ulp(dtype, value) / 4;
      twice.push_back(round_to(dtype, std::nearbyint(value / coarse) * coarse));
    }
    const Expectation expected{dtype, {20000}, x.values, tolerance};
    EXPECT_TRUE(compare({dtype, once, {}}, expected).passed());
    EXPECT_FALSE(compare({dtype, twice, {}}, expected).passed());
  }
}

} // namespace
} // namespace kg::test
