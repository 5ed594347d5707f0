// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/vendor_comparison.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/case.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

// Hundred elements of 1000, tolerance 16 units of 1, as a long matrix product has.
class Vendor : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 100;
  const Values expected_ = Values(kCount, 1000.0);
  const Values tolerance_ = Values(kCount, 16.0);
  const Values unit_ = Values(kCount, 1.0);
  const Expectation expectation_{Dtype::f32, {10, 10}, expected_, tolerance_, unit_};

  // The oracle's value with this error everywhere, and another one at element 42.
  Observed off_by(double error, double at_42) const {
    Observed result{Dtype::f32, Values(kCount, 1000 + error), {}};
    result.values[42] = 1000 + at_42;
    return result;
  }
};

TEST_F(Vendor, both_right_passes_in_silence) {
  const VendorComparison result =
      compare_with_vendor(off_by(0.5, 7), off_by(-0.5, -3), expectation_);
  EXPECT_TRUE(result.passed()) << result.text();
  EXPECT_EQ(result.text(), "");
  EXPECT_FALSE(result.vendor_inaccurate);
}

TEST_F(Vendor, ours_outside_the_bound_fails) {
  const VendorComparison result = compare_with_vendor(off_by(0, 16.5), off_by(0, 12), expectation_);
  EXPECT_FALSE(result.passed());
  EXPECT_NE(result.text().find("against the oracle"), std::string::npos);
}

TEST_F(Vendor, accuracy_may_be_twice_the_largest_error_above_the_floor) {
  EXPECT_TRUE(compare_with_vendor(off_by(0, 8), off_by(0, 0), expectation_).passed());
  EXPECT_FALSE(compare_with_vendor(off_by(0, 8.01), off_by(0, 0), expectation_).passed());
  EXPECT_TRUE(compare_with_vendor(off_by(0, 10), off_by(0, 5), expectation_).passed());
  const VendorComparison worse = compare_with_vendor(off_by(0, 10.1), off_by(0, 5), expectation_);
  EXPECT_FALSE(worse.passed());
  EXPECT_NE(worse.text().find("largest error 10.1 units, allowed 10 (the vendor's: 5)"),
            std::string::npos)
      << worse.text();
}

TEST_F(Vendor, accuracy_may_be_one_and_a_half_of_the_rms_error_above_the_floor) {
  EXPECT_TRUE(compare_with_vendor(off_by(0.99, 0.99), off_by(0, 0), expectation_).passed());
  EXPECT_FALSE(compare_with_vendor(off_by(1.01, 1.01), off_by(0, 0), expectation_).passed());
  EXPECT_TRUE(compare_with_vendor(off_by(2.9, 2.9), off_by(-2, -2), expectation_).passed());
  const VendorComparison worse =
      compare_with_vendor(off_by(3.1, 3.1), off_by(-2, -2), expectation_);
  EXPECT_FALSE(worse.passed());
  EXPECT_NE(worse.text().find("RMS error 3.1 units, allowed 3"), std::string::npos);
}

TEST_F(Vendor, an_exact_expectation_has_no_ratio) {
  Expectation without_unit = expectation_;
  without_unit.unit = {};
  const VendorComparison result = compare_with_vendor(off_by(0, 15), off_by(0, 0), without_unit);
  EXPECT_FALSE(result.ratio_applies);
  EXPECT_TRUE(result.passed());
}

TEST_F(Vendor, an_inaccurate_vendor_is_reported_and_changes_nothing_for_ours) {
  const VendorComparison right = compare_with_vendor(off_by(0, 12), off_by(0, 400), expectation_);
  EXPECT_TRUE(right.vendor_inaccurate);
  EXPECT_EQ(right.vendor_outside, 1);
  EXPECT_TRUE(right.passed()) << right.text();
  EXPECT_EQ(right.text().find("vendor_inaccurate"), 0u);
  // Sharing the vendor's error does not help.
  EXPECT_FALSE(compare_with_vendor(off_by(0, 400), off_by(0, 400), expectation_).passed());
  // Were this vendor a yardstick, its RMS error of 1.7 would allow 2.55.
  EXPECT_TRUE(compare_with_vendor(off_by(3, 3), off_by(0, 17), expectation_).passed());
  EXPECT_FALSE(compare_with_vendor(off_by(3, 3), off_by(0, 15), expectation_).passed());
  // A NaN from the vendor is inaccurate, not contagious.
  EXPECT_TRUE(compare_with_vendor(off_by(0, 1), off_by(0, kNan), expectation_).passed());
}

// Which a wrapper that hands over wrong extents or scalars makes of any library.
TEST_F(Vendor, one_that_solved_another_problem_fails) {
  const VendorComparison wrong = compare_with_vendor(off_by(0, 0), off_by(257, 0), expectation_);
  EXPECT_TRUE(wrong.ours.passed() && wrong.direct.passed());
  EXPECT_FALSE(wrong.passed());
  EXPECT_NE(wrong.text().find("it solved another problem"), std::string::npos);
  EXPECT_TRUE(compare_with_vendor(off_by(0, 0), off_by(255, 0), expectation_).passed());
  EXPECT_FALSE(compare_with_vendor(off_by(0, 0), off_by(kNan, 0), expectation_).passed());
}

// The sum of both bounds follows from them; the direct comparison must still be made, and see what
// the oracle's cannot: here the two tolerances are so wide that only the element's class is left.
TEST_F(Vendor, the_direct_comparison_uses_the_sum_of_both_tolerances) {
  const Values tight(kCount, 2.0);
  const VendorComparison result =
      compare_with_vendor(off_by(0, 15), off_by(0, -2), expectation_, tight);
  EXPECT_TRUE(result.direct.passed());
  EXPECT_EQ(result.direct.compared, 100);
  EXPECT_DOUBLE_EQ(result.direct.max_error, 17.0 / 18);
  EXPECT_EQ(compare_with_vendor(off_by(0, 15), off_by(0, -3), expectation_, tight).vendor_outside,
            1);
  EXPECT_FALSE(
      compare_with_vendor(off_by(0, 17), off_by(0, -2), expectation_, tight).direct.passed());
}

TEST_F(Vendor, overflow_at_the_end_of_the_range_may_differ) {
  const Values expected = {65519}, tolerance = {17};
  const Expectation at_the_end{Dtype::f16, {1}, expected, tolerance};
  const Observed finite{Dtype::f16, {65504}, {}}, infinite{Dtype::f16, {kInfinity}, {}};
  EXPECT_TRUE(compare_with_vendor(finite, infinite, at_the_end).passed());
  EXPECT_TRUE(compare_with_vendor(infinite, finite, at_the_end).passed());
}

TEST_F(Vendor, the_verdict_of_an_inaccurate_vendor_passes_and_is_recorded) {
  const CaseContext context{CaseId("gemm.f32.m10_n10"), "tiled", "normal", {10, 10}, {}};
  testing::internal::CaptureStdout();
  EXPECT_TRUE(verdict(compare_with_vendor(off_by(0, 1), off_by(0, 99), expectation_), context));
  const std::string printed = testing::internal::GetCapturedStdout();
  EXPECT_NE(printed.find("vendor_inaccurate"), std::string::npos);
  EXPECT_NE(printed.find("gemm.f32.m10_n10"), std::string::npos);
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const auto properties = [&] {
    std::vector<std::string> keys;
    for (int p = 0; p < info->result()->test_property_count(); ++p)
      keys.emplace_back(info->result()->GetTestProperty(p).key());
    return keys;
  }();
  EXPECT_EQ(properties,
            (std::vector<std::string>{"ledger.seen/gemm/f32/tiled/oracle",
                                      "ledger.seen/gemm/f32/tiled/vendor", "vendor_inaccurate"}));
  EXPECT_FALSE(verdict(compare_with_vendor(off_by(0, 99), off_by(0, 1), expectation_), context));
  require_evidence({"gemm", "f32", "tiled"}, {Evidence::oracle, Evidence::vendor});
}

} // namespace
} // namespace kg::test
