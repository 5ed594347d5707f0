// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vacuity.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

// A GEMM with its true tolerance, times `slack`.
testing::AssertionResult examine_gemm(double slack, Degenerate degenerate = Degenerate::no) {
  constexpr std::int64_t kM = 40, kN = 50, kK = 64;
  const Fill a = normal(Dtype::f32, kM * kK, Tensor::a);
  const Fill b = normal(Dtype::f32, kK * kN, Tensor::b);
  const GemmOracle oracle = gemm_oracle(
      {matrix(kM, kK, kK), matrix(kK, kN, kN), matrix(kM, kN, kN)}, a.values, b.values, {});
  Values tolerance = gemm_f32_tolerances(oracle, kK);
  for (double& bound : tolerance) bound *= slack;
  return not_vacuous({Dtype::f32, {kM, kN}, oracle.value, tolerance}, degenerate);
}

testing::AssertionResult examine(const Values& expected, std::vector<std::int64_t> shape,
                                 double tolerance, Degenerate degenerate = Degenerate::no) {
  const Values bounds(expected.size(), tolerance);
  return not_vacuous({Dtype::f32, std::move(shape), expected, bounds}, degenerate);
}

bool complains(const testing::AssertionResult& result, const std::string& words) {
  return !result && std::string(result.message()).find(words) != std::string::npos;
}

Values ramp(std::size_t count) {
  Values values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i + 1);
  return values;
}

TEST(Vacuity, a_sharp_comparison_is_accepted) {
  EXPECT_TRUE(examine_gemm(1));
  EXPECT_TRUE(examine(ramp(1000), {1000}, 0));
  EXPECT_TRUE(examine(ramp(2 * 5 * 7), {2, 5, 7}, 0.25));
}

TEST(Vacuity, a_loose_tolerance_is_found_out) {
  EXPECT_TRUE(complains(examine_gemm(3e6), "zeros are accepted"));
  EXPECT_TRUE(complains(examine_gemm(3e6), "permuted elements are accepted"));
  EXPECT_TRUE(complains(examine_gemm(3e6), "a zeroed tile at (0, 0) is accepted"));
  EXPECT_TRUE(complains(examine_gemm(3e6), "a zeroed last tile is accepted"));
  EXPECT_TRUE(complains(examine_gemm(3e6), "one constant is accepted"));
  EXPECT_TRUE(complains(examine_gemm(3e5), "exceed half the median"));
}

// Tolerances that are adequate except for one tile, one run, one order.
TEST(Vacuity, each_check_has_teeth_of_its_own) {
  Values expected = ramp(40 * 50);
  for (std::size_t i = 16; i < 32; ++i)
    for (std::size_t j = 0; j < 16; ++j) expected[i * 50 + j] = 0;
  EXPECT_TRUE(complains(examine(expected, {40, 50}, 0.25), "a zeroed tile at (16, 0) is accepted"));

  Values tail = ramp(100);
  for (std::size_t i = 84; i < 100; ++i) tail[i] = 0;
  EXPECT_TRUE(complains(examine(tail, {100}, 0.25), "a zeroed last tile is accepted"));

  const Values slow = {10.0, 10.1, 10.2, 10.3};
  EXPECT_TRUE(complains(examine(slow, {4}, 0.5), "permuted elements are accepted"));
  EXPECT_TRUE(complains(examine(slow, {4}, 0.5), "one constant is accepted"));
  EXPECT_FALSE(complains(examine(slow, {4}, 0.5), "zeros are accepted"));

  // Beyond 2^53 a change of 1.5 tolerances is lost in the fp64 comparison itself.
  const Values huge = {0x1p60, -0x1p61, 0x1p62};
  EXPECT_TRUE(complains(examine(huge, {3}, 0.25), "3 of 3 elements may move by 1.5 tolerances"));
  EXPECT_TRUE(complains(examine(huge, {3}, 0.25), "element 1 alone may move"));
  const Values one_huge = {1, 2, 0x1p62};
  EXPECT_TRUE(complains(examine(one_huge, {3}, 0.25), "1 of 3 elements may move"));
}

TEST(Vacuity, expectations_with_nan_infinity_and_zero_are_examined) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(examine({1, std::nan(""), -inf, 0, 5, inf}, {6}, 0));
  EXPECT_TRUE(examine({1, std::nan(""), -inf, 0, 5, inf}, {6}, 1e-3));
}

TEST(Vacuity, exemptions_hold_for_what_they_name_and_no_further) {
  EXPECT_TRUE(examine({}, {0, 5}, 0, Degenerate::empty));
  EXPECT_TRUE(examine({3}, {1}, 0.5, Degenerate::single_element));
  EXPECT_TRUE(complains(examine({3}, {1}, 0.5), "permuted"));
  EXPECT_TRUE(complains(examine({3}, {1}, 4, Degenerate::single_element), "zeros are accepted"));
  EXPECT_TRUE(examine(Values(64, 1.0), {8, 8}, 0, Degenerate::constant));
  EXPECT_TRUE(complains(examine(Values(64, 1.0), {8, 8}, 0), "one constant"));
  EXPECT_TRUE(examine(Values(64, 0.0), {8, 8}, 0, Degenerate::zero));
  EXPECT_TRUE(complains(examine(Values(64, 0.0), {8, 8}, 0), "zeros are accepted"));
  const SoftmaxFill rows = softmax_plateaus(Dtype::f32, 6, 1024);
  EXPECT_TRUE(examine(rows.expected, {6, 1024}, 0, Degenerate::sparse));
  EXPECT_TRUE(complains(examine(rows.expected, {6, 1024}, 0), "a zeroed tile"));
}

TEST(Vacuity, a_false_claim_is_a_failure) {
  EXPECT_TRUE(complains(examine(ramp(5), {5}, 0, Degenerate::empty), "claims 'no elements'"));
  EXPECT_TRUE(complains(examine(ramp(5), {5}, 0, Degenerate::single_element), "a single element"));
  EXPECT_TRUE(complains(examine(ramp(5), {5}, 0, Degenerate::constant), "all elements equal"));
  EXPECT_TRUE(complains(examine(ramp(5), {5}, 0, Degenerate::zero), "all elements zero"));
  EXPECT_TRUE(complains(examine(ramp(5), {5}, 0, Degenerate::sparse), "tiles of zeros"));
}

TEST(Vacuity, bitwise_comparisons_are_examined_too) {
  const std::vector<std::uint64_t> bits = unique_bits(Dtype::f16, 33 * 70);
  EXPECT_TRUE(not_vacuous_bits(Dtype::f16, {33, 70}, bits));
  const std::vector<std::uint64_t> equal(20, 7);
  EXPECT_TRUE(complains(not_vacuous_bits(Dtype::f32, {20}, equal), "permuted"));
  EXPECT_TRUE(not_vacuous_bits(Dtype::f32, {20}, equal, Degenerate::constant));
}

} // namespace
} // namespace kg::test
