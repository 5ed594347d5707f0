// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/compare.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/hygiene.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

// Whether one f32 element is accepted.
bool accepts(double actual, double expected, double tolerance,
             SignedZero zero = SignedZero::ignored, Dtype dtype = Dtype::f32) {
  const Values e = {expected}, t = {tolerance};
  return compare({dtype, {actual}, {}}, {dtype, {1}, e, t, {}, zero}).passed();
}

TEST(Compare, the_tolerance_is_the_border) {
  EXPECT_TRUE(accepts(1.25, 1, 0.25));
  EXPECT_FALSE(accepts(std::nextafter(1.25, 2), 1, 0.25));
  EXPECT_TRUE(accepts(0.75, 1, 0.25));
  EXPECT_FALSE(accepts(0.7, 1, 0.25));
  EXPECT_TRUE(accepts(1, 1, 0));
  EXPECT_FALSE(accepts(std::nextafter(1, 2), 1, 0));
}

TEST(Compare, nan_matches_nan_only) {
  EXPECT_TRUE(accepts(kNan, kNan, 0));
  EXPECT_TRUE(accepts(-kNan, kNan, 0));
  EXPECT_FALSE(accepts(kNan, 1, 1e30));
  EXPECT_FALSE(accepts(1, kNan, 1e30));
  EXPECT_FALSE(accepts(kInfinity, kNan, 1e30));
  EXPECT_FALSE(accepts(kNan, kInfinity, 1e30));
}

TEST(Compare, infinities_match_by_sign) {
  EXPECT_TRUE(accepts(kInfinity, kInfinity, 0));
  EXPECT_FALSE(accepts(-kInfinity, kInfinity, 0));
  EXPECT_FALSE(accepts(3e38, kInfinity, 1e30));
  EXPECT_FALSE(accepts(kInfinity, 3e38, 1e30));
}

// The oracle is not rounded: a value that f16 cannot hold must be stored as infinity, and around
// 65520, where rounding decides, the tolerance decides.
TEST(Compare, overflow_of_the_stored_format) {
  const auto accepts_f16 = [](double actual, double expected, double tolerance) {
    return accepts(actual, expected, tolerance, SignedZero::ignored, Dtype::f16);
  };
  EXPECT_TRUE(accepts_f16(kInfinity, 70000, 16));
  EXPECT_FALSE(accepts_f16(65504, 70000, 16));
  EXPECT_FALSE(accepts_f16(-kInfinity, 70000, 16));
  EXPECT_TRUE(accepts_f16(kInfinity, 65519, 16.5));
  EXPECT_TRUE(accepts_f16(65504, 65519, 16.5));
  EXPECT_FALSE(accepts_f16(kInfinity, 65000, 16.5));
}

TEST(Compare, signed_zero_policy) {
  EXPECT_TRUE(accepts(-0.0, 0.0, 0));
  EXPECT_FALSE(accepts(-0.0, 0.0, 0, SignedZero::must_match));
  EXPECT_FALSE(accepts(0.0, -0.0, 0, SignedZero::must_match));
  EXPECT_TRUE(accepts(-0.0, -0.0, 0, SignedZero::must_match));
  EXPECT_TRUE(accepts(-0.0, 1e-9, 1e-8, SignedZero::must_match));
  const Values zero = {0.0};
  EXPECT_FALSE(compare({Dtype::f32, {-0.0}, {}}, exactly(Dtype::f32, {1}, zero)).passed());
}

TEST(Compare, one_of_a_million_is_found) {
  Values expected(1000000);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<double>(i % 97);
  const Values tolerance(expected.size(), 1e-3);
  Observed actual{Dtype::f32, expected, {}};
  actual.values[765432] += 1.01e-3;
  const Comparison result = compare(actual, {Dtype::f32, {1000, 1000}, expected, tolerance});
  EXPECT_FALSE(result.passed());
  EXPECT_EQ(result.compared, 1000000);
  EXPECT_EQ(result.failures, std::vector<std::int64_t>{765432});
  EXPECT_NE(result.text().find("1 of 1000000 elements are wrong"), std::string::npos);
  EXPECT_NE(result.text().find("a single element, (765, 432)"), std::string::npos);
}

TEST(Compare, reports_worst_first_eight_and_errors_in_units) {
  const Values expected(100, 10.0);
  Values tolerance(100, 1.0);
  tolerance[50] = 0.125;
  const Values unit(100, 0.5);
  Observed actual{Dtype::f32, expected, {}};
  for (std::size_t i = 40; i < 60; ++i) actual.values[i] = 13;
  const Comparison result = compare(actual, {Dtype::f32, {100}, expected, tolerance, unit});
  EXPECT_EQ(result.failed, 20);
  EXPECT_EQ(result.worst.index, 50);
  EXPECT_EQ(result.worst.error, 3);
  ASSERT_EQ(result.first.size(), 8u);
  EXPECT_EQ(result.first[7].index, 47);
  EXPECT_EQ(result.max_error, 6);
  EXPECT_DOUBLE_EQ(result.rms_error, std::sqrt(20 * 36.0 / 100));
  EXPECT_NE(result.text().find("worst  (50): actual 13, expected 10, error 3 = 24 x tolerance"),
            std::string::npos)
      << result.text();
  EXPECT_EQ(result.share, 24);
  // Without a unit the tolerance is the unit.
  EXPECT_EQ(compare(actual, {Dtype::f32, {100}, expected, tolerance}).max_error, 24);
}

TEST(Compare, a_wrong_class_is_the_worst_error) {
  const Values expected = {1, 2, 3}, tolerance = {1, 1, 1};
  const Comparison result =
      compare({Dtype::f32, {100, kNan, 3}, {}}, {Dtype::f32, {3}, expected, tolerance});
  EXPECT_EQ(result.failed, 2);
  EXPECT_EQ(result.worst.index, 1);
  EXPECT_EQ(result.max_error, kInfinity);
}

TEST(Compare, poison_is_not_a_result_even_where_nan_is_expected) {
  std::vector<float> stored = poisoned<float>(3);
  stored[0] = 1;
  stored[1] = std::numeric_limits<float>::quiet_NaN();
  const Values expected = {1, kNan, kNan};
  const Comparison result = compare(observe(stored), exactly(Dtype::f32, {3}, expected));
  EXPECT_EQ(result.failures, std::vector<std::int64_t>{2});
  EXPECT_EQ(result.unwritten, 1);
  EXPECT_NE(result.text().find("1 of them never written"), std::string::npos);
  // -1 is a number of i32.
  const Values minus_one = {-1};
  EXPECT_TRUE(compare(observe(std::vector<std::int32_t>{-1}), exactly(Dtype::i32, {1}, minus_one))
                  .passed());
}

TEST(Compare, refuses_sizes_and_tolerances_that_would_compare_less) {
  const Values two = {1, 2}, three = {1, 2, 3};
  const Observed actual{Dtype::f32, two, {}};
  EXPECT_THROW(compare(actual, {Dtype::f32, {3}, three, {}}), Error);
  EXPECT_THROW(compare(actual, {Dtype::f32, {2}, three, {}}), Error);
  EXPECT_THROW(compare(actual, {Dtype::f32, {2}, two, three}), Error);
  EXPECT_THROW(compare(actual, {Dtype::f32, {2}, two, {}, three}), Error);
  EXPECT_THROW(compare(actual, {Dtype::f16, {2}, two, {}}), Error);
  EXPECT_THROW(compare({Dtype::f32, two, {1}}, {Dtype::f32, {2}, two, {}}), Error);
  for (const double bad : {kNan, kInfinity, -1.0}) {
    const Values tolerance = {0, bad};
    EXPECT_THROW(compare(actual, {Dtype::f32, {2}, two, tolerance}), Error) << bad;
  }
}

TEST(Compare, nothing_compared_passes_only_where_nothing_was_asked) {
  EXPECT_TRUE(compare({Dtype::f32, {}, {}}, {Dtype::f32, {4, 0}, {}, {}}).passed());
  Comparison none{Dtype::f32, {5}};
  EXPECT_FALSE(none.passed());
  EXPECT_EQ(none.text(), "0 of 5 elements were compared\n");
}

TEST(Compare, bitwise_sees_payloads_and_signs) {
  const std::vector<std::uint64_t> expected = {0x7FC00001, 0x00000000, 0x3F800000};
  const auto result = [&](std::vector<std::uint64_t> bits) {
    return compare_bits({Dtype::f32, {}, std::move(bits)}, {3}, expected);
  };
  EXPECT_TRUE(result({0x7FC00001, 0x00000000, 0x3F800000}).passed());
  EXPECT_EQ(result({0x7FC00002, 0x00000000, 0x3F800000}).failures, std::vector<std::int64_t>{0});
  EXPECT_EQ(result({0x7FC00001, 0x80000000, 0x3F800001}).failed, 2);
  const Comparison unwritten = result({0x7FC00001, 0x00000000, 0xFFFFFFFF});
  EXPECT_EQ(unwritten.unwritten, 1);
  EXPECT_NE(unwritten.text().find("(2): actual 0xffffffff, expected 0x3f800000, never written"),
            std::string::npos)
      << unwritten.text();
}

} // namespace
} // namespace kg::test
