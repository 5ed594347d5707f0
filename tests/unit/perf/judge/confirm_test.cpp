// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The two looks by hand. confirm_rates_test.cpp has error rates and power.
#include "perf/judge/confirm.h"

#include "runtime/error.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

// B takes ratios[i] times as long as A, and the control as long as A but for one part in a
// thousand, up and down.
PairedTimes times(const std::vector<double>& ratios) {
  PairedTimes result;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const double a = 100 * (1 + 0.01 * static_cast<double>(i)); // whatever the machine does
    result.a_ns.push_back(a);
    result.b_ns.push_back(a * ratios[i]);
    result.control_ns.push_back(a * (i % 2 ? 1.001 : 0.999));
  }
  return result;
}

std::vector<double> mixed(std::size_t n, double most, std::size_t few, double odd) {
  std::vector<double> ratios(n - few, most);
  ratios.insert(ratios.end(), few, odd);
  return ratios;
}

Verdict verdict(const PairedTimes& paired) { return confirm(paired, {}).verdict; }

TEST(Confirm, TheSignTestSurvivesTwoWildPairsOfTwentyAndEightOfForty) {
  // P(B <= 2) of 20 is 0.0002, P(B <= 8) of 40 is 0.00009: both below 0.00025, and the next are
  // not. The wild pairs leave nothing to the t test.
  EXPECT_EQ(verdict(times(mixed(20, 1.0201, 2, 0.5))), Verdict::regressed);
  EXPECT_EQ(verdict(times(mixed(20, 1.0201, 3, 0.5))), Verdict::inconclusive);
  EXPECT_EQ(verdict(times(mixed(40, 1.0201, 8, 0.5))), Verdict::regressed);
  EXPECT_EQ(verdict(times(mixed(40, 1.0201, 9, 0.5))), Verdict::inconclusive);
  EXPECT_EQ(verdict(times(mixed(20, 1.0199, 2, 0.5))), Verdict::pass) << "tolerated";
}

TEST(Confirm, TheTTestSeesWhatTheSignTestCannot) {
  // Of d five are x - 2 s, ten x and five x + 2 s. One cut on either side leaves the mean x and the
  // winsorised squares 10 * (2 s)^2, so the error is sqrt(40 s^2 / 19 * 20) / 18, dof 17.
  std::vector<double> ratios;
  const double s = 0.01;
  for (int i = 0; i < 20; ++i) {
    const double d = std::log(1.06) + (i < 5 ? -2 * s : i < 15 ? 0 : 2 * s);
    ratios.push_back(std::exp(d));
  }
  const Confirmation found = confirm(times(ratios), {});
  const double reach = student_t_quantile(1 - 0.00025, 17) * s * std::sqrt(40.0 / 19 * 20) / 18;
  EXPECT_NEAR(-std::log(found.ratio_interval.high), std::log(1.06) - reach, 1e-12);
  EXPECT_GT(std::log(1.06) - reach, std::log(1.06) - 2 * s) << "tighter than the third least";
  EXPECT_NEAR(found.ratio, 1 / 1.06, 1e-12);
}

TEST(Confirm, AlikeIsAPassAndFasterAnImprovement) {
  EXPECT_EQ(verdict(times(std::vector<double>(20, 1))), Verdict::pass);
  EXPECT_EQ(verdict(times(std::vector<double>(20, 1.019))), Verdict::pass) << "surely tolerated";
  EXPECT_EQ(verdict(times(std::vector<double>(20, 0.975))), Verdict::pass);
  EXPECT_EQ(verdict(times(std::vector<double>(20, 0.96))), Verdict::improved);
  EXPECT_EQ(verdict(times(mixed(20, 0.96, 3, 1.1))), Verdict::pass) << "not surely faster";
}

TEST(Confirm, TheMedianPassesARowThatIsOnlyProbablyWithin) {
  // Three of twenty are wild: the bounds at alpha reach beyond the tolerance, those at 2.5 % do
  // not.
  EXPECT_EQ(verdict(times(mixed(20, 1.005, 3, 1.5))), Verdict::pass);
  EXPECT_EQ(verdict(times(mixed(20, 1.012, 3, 1.5))), Verdict::inconclusive) << "beyond half";
  EXPECT_EQ(verdict(times(mixed(20, 1.005, 6, 1.5))), Verdict::inconclusive) << "six of twenty";
}

TEST(Confirm, AsksForMorePairsAtTheFirstLookOnly) {
  EXPECT_TRUE(confirm(times(mixed(20, 1.0201, 3, 0.5)), {}).more);
  EXPECT_TRUE(confirm(times(mixed(39, 1.0201, 12, 0.5)), {}).more);
  EXPECT_FALSE(confirm(times(mixed(40, 1.0201, 12, 0.5)), {}).more);
  EXPECT_FALSE(confirm(times(std::vector<double>(20, 1.1)), {}).more) << "decided";
}

TEST(Confirm, TwoCopiesOfOneBuildMustBeAlike) {
  PairedTimes paired = times(std::vector<double>(20, 1.1));
  for (std::size_t i = 0; i < 20; ++i) paired.control_ns[i] = paired.a_ns[i] * 1.0101;
  const Confirmation found = confirm(paired, {});
  EXPECT_EQ(found.verdict, Verdict::env);
  EXPECT_FALSE(found.more);
  EXPECT_NE(found.reason.find("two copies of the same build differ by 1.0 %: this machine cannot "
                              "be judged now"),
            std::string::npos)
      << found.reason;
  for (std::size_t i = 0; i < 20; ++i) paired.control_ns[i] = paired.a_ns[i] / 1.0101;
  EXPECT_EQ(verdict(paired), Verdict::env) << "faster is not better";
  for (std::size_t i = 0; i < 20; ++i) paired.control_ns[i] = paired.a_ns[i] * 1.0099;
  EXPECT_EQ(verdict(paired), Verdict::regressed) << "half of the tolerance can be forged";
  for (std::size_t i = 0; i < 3; ++i) paired.control_ns[i] = paired.a_ns[i] * 3;
  EXPECT_EQ(verdict(paired), Verdict::regressed) << "wild processes do not sink it";
}

TEST(Confirm, TheToleranceIsTheRulesOwn) {
  ConfirmRule rule;
  rule.tol_pct = 3;
  EXPECT_EQ(confirm(times(std::vector<double>(20, 1.029)), rule).verdict, Verdict::pass);
  EXPECT_EQ(confirm(times(std::vector<double>(20, 1.031)), rule).verdict, Verdict::regressed);
}

TEST(Confirm, ManyRowsShareTheChanceOfError) {
  EXPECT_EQ(confirm_rule(2, 1).alpha, ConfirmRule{}.alpha);
  EXPECT_EQ(confirm_rule(2, 10).alpha, ConfirmRule{}.alpha);
  EXPECT_DOUBLE_EQ(confirm_rule(2, 20).alpha, ConfirmRule{}.alpha / 2);
  EXPECT_EQ(confirm_rule(5, 20).tol_pct, 5);
  // P(B <= 2) of 20 exceeds 0.000125: one wild pair is left.
  EXPECT_EQ(confirm(times(mixed(20, 1.0201, 2, 0.5)), confirm_rule(2, 20)).verdict,
            Verdict::inconclusive);
  EXPECT_EQ(confirm(times(mixed(20, 1.0201, 1, 0.5)), confirm_rule(2, 20)).verdict,
            Verdict::regressed);
}

TEST(Confirm, SaysItsFigures) {
  const Confirmation found = confirm(times(std::vector<double>(20, 1.25)), {});
  EXPECT_EQ(found.pairs, 20u);
  EXPECT_NEAR(found.detectable_pct, 2, 1e-9) << "no noise: all beyond the tolerance is found";
  EXPECT_EQ(found.reason,
            "slower than its tolerance of 2 %, beside the reference: ratio 0.800 [0.800, 0.800] in "
            "20 pairs. They would find 2.0 % 9 in 10 times");
}

TEST(Confirm, RefusesWhatIsNoPair) {
  EXPECT_THROW(confirm(times(std::vector<double>(11, 1)), {}), Error);
  PairedTimes paired = times(std::vector<double>(20, 1));
  paired.control_ns.pop_back();
  EXPECT_THROW(confirm(paired, {}), Error);
  paired = times(std::vector<double>(20, 1));
  paired.b_ns[3] = 0;
  EXPECT_THROW(confirm(paired, {}), Error);
  paired.b_ns[3] = std::nan("");
  EXPECT_THROW(confirm(paired, {}), Error);
}

} // namespace
} // namespace kg::judge
