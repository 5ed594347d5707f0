// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The bounds of matrix units against an adder that works as theirs do: right results lie within
// them, and one that lost a product does not.
#include "tests/oracle/truncating_adder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

struct Gpu {
  int compute_major;
  Dtype input; // f32: TF32
};

// Row `row` of A times column `row` of B, products exact; what the unit multiplies.
Values products(const Gpu& gpu, Fill (*fill)(Dtype, std::int64_t, Tensor, std::uint64_t),
                std::int64_t k, std::uint64_t row) {
  Values a = fill(gpu.input, k, Tensor::a, seed() + row).values;
  Values b = fill(gpu.input, k, Tensor::b, seed() + row).values;
  if (gpu.input == Dtype::f32) {
    a = tf32_rounded(a);
    b = tf32_rounded(b);
  }
  for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
  return a;
}

double sum(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }
double magnitude(const Values& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double all, double value) { return all + std::fabs(value); });
}

class TruncatingAdder : public testing::TestWithParam<Gpu> {
 protected:
  MatrixUnit unit() const { return matrix_unit(GetParam().input, GetParam().compute_major); }
  double error(const Values& added, const Values& right) const {
    return std::fabs(truncating_sum_of_products(added, unit()) - sum(right));
  }
};

constexpr std::uint64_t kRows = 200;

TEST_P(TruncatingAdder, right_sums_of_one_sign_lie_within_the_bound) {
  for (const std::int64_t k : {1, 7, 66, 400, 1500, 4096, 16384})
    for (std::uint64_t row = 0; row < (k > 4096 ? 20 : kRows); ++row) {
      const Values terms = products(GetParam(), positive, k, row);
      const double bound = gemm_matrix_unit_positive_tolerance(k, sum(terms), unit());
      EXPECT_LE(error(terms, terms), bound) << "k " << k << ", row " << row;
      EXPECT_LE(bound, (0.4 * static_cast<double>(k) * 4 + 140) * 0x1p-24 * sum(terms));
    }
}

// Why there is a bound of its own.
TEST_P(TruncatingAdder, right_sums_of_one_sign_break_the_bound_of_rounding_adders) {
  const std::int64_t k = 4096;
  std::size_t outside = 0;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const Values terms = products(GetParam(), positive, k, row);
    outside += error(terms, terms) > gemm_f32_positive_tolerance(k, sum(terms));
  }
  EXPECT_EQ(outside, kRows);
}

// Of a product of a factor's mean size; k as the test of the kernel has it.
TEST_P(TruncatingAdder, a_sum_that_lost_a_product_breaks_the_bound) {
  const std::int64_t k = 1500;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const Values terms = products(GetParam(), positive, k, row);
    Values lost = terms;
    const auto at = std::find_if(lost.begin() + static_cast<std::ptrdiff_t>(row), lost.end(),
                                 [](double term) { return term > 0.25; });
    ASSERT_NE(at, lost.end());
    *at = 0;
    EXPECT_GT(error(lost, terms), gemm_matrix_unit_positive_tolerance(k, sum(terms), unit()))
        << "row " << row;
  }
}

TEST_P(TruncatingAdder, right_sums_of_zero_mean_lie_within_theirs) {
  for (const std::int64_t k : {1, 21, 151, 400, 4099})
    for (std::uint64_t row = 0; row < kRows; ++row) {
      const Values terms = products(GetParam(), normal, k, row);
      EXPECT_LE(error(terms, terms), gemm_matrix_unit_tolerance(k, magnitude(terms)))
          << "k " << k << ", row " << row;
    }
}

INSTANTIATE_TEST_SUITE_P(gpus, TruncatingAdder,
                         testing::Values(Gpu{7, Dtype::f16}, Gpu{8, Dtype::f16}, Gpu{8, Dtype::f32},
                                         Gpu{9, Dtype::f16}, Gpu{9, Dtype::bf16},
                                         Gpu{9, Dtype::f32}));

// By hand: 1 + 2^-24 + 2^-25 + 2^-26. Aligned to 1 with 25 fraction bits the last is cut off, and
// the sum to 1; with three of 2^-24 the sum is 1 + 3 2^-24, and 1 + 2^-23 of f32.
TEST(TruncatingSum, cuts_off_what_lies_below_its_bits) {
  EXPECT_EQ(truncating_sum(Values{1, 0x1p-24, 0x1p-25, 0x1p-26}, 25), 1);
  EXPECT_EQ(truncating_sum(Values{1, 0x1p-24, 0x1p-24, 0x1p-24}, 25), 1 + 0x1p-23);
  EXPECT_EQ(truncating_sum(Values{1, 0x1p-24, 0x1p-24, 0x1p-24}, 23), 1);
  EXPECT_EQ(truncating_sum(Values{-1, -0x1p-23, -0x1p-24}, 25), -1 - 0x1p-23);
  EXPECT_EQ(truncating_sum(Values{0, 0}, 25), 0);
}

} // namespace
} // namespace kg::test
