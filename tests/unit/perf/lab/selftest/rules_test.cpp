// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rivals' rules by hand-computed examples, and their error rates under a simple model of noise,
// where theory or a wide margin says what they must be.
#include "perf/lab/selftest/rules.h"

#include "runtime/error.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>

namespace kg::selftest {
namespace {

TEST(MannWhitney, SmallSamplesByHand) {
  // b exceeds a in (1 < 2, 1 < 4, 3 < 4, 1 < 6, 3 < 6, 5 < 6): U = 6 of 9, mean 4.5, variance
  // 3 * 3 * 7 / 12 = 5.25, z = (1.5 - 0.5) / sqrt(5.25) = 0.436436, p = 2 * 0.331259.
  const MannWhitney found = mann_whitney(std::vector{1.0, 3.0, 5.0}, std::vector{2.0, 4.0, 6.0});
  EXPECT_EQ(found.u, 6);
  EXPECT_NEAR(found.p, 0.662521, 1e-5);
}

TEST(MannWhitney, TiesCountHalfAndLowerTheVariance) {
  // b = 2: above 1, level with two: 1 + 2/2; b = 2: the same; b = 3: above three. U = 7 of 9.
  // Ties: four equal to 2, so 4^3 - 4 = 60; variance 9 / 12 * (7 - 60 / 30) = 3.75; z = (2.5 - 0.5)
  // / sqrt(3.75) = 1.032796, p = 2 * 0.150850.
  const MannWhitney found = mann_whitney(std::vector{1.0, 2.0, 2.0}, std::vector{2.0, 2.0, 3.0});
  EXPECT_EQ(found.u, 7);
  EXPECT_NEAR(found.p, 0.301700, 1e-5);
}

TEST(MannWhitney, EqualSamplesSayNothing) {
  EXPECT_EQ(mann_whitney(std::vector{2.0, 2.0}, std::vector{2.0, 2.0, 2.0}).p, 1);
  EXPECT_THROW(mann_whitney(std::vector<double>{}, std::vector{2.0}), Error);
}

TEST(PooledT, ByHand) {
  // Means 2 and 3, squares 2 and 2 with 4 degrees of freedom: standard error sqrt(1 * (1/3 + 1/3)),
  // t = 1.224745. With 4 degrees of freedom, P(T > t) = 1/2 - (t / sqrt(4 + t^2)) (3/4 - (t^2 / (4
  // + t^2)) / 4) = 1/2 - 0.522233 * 0.681818.
  const std::vector<double> a = {1, 2, 3}, b = {2, 3, 4};
  EXPECT_NEAR(pooled_t_greater(a, b), 0.143932, 1e-5);
  EXPECT_NEAR(pooled_t_greater(b, a), 1 - 0.143932, 1e-5);
  EXPECT_EQ(pooled_t_greater(a, a), 0.5);
  EXPECT_EQ(pooled_t_greater(std::vector{1.0, 1.0}, std::vector{2.0, 2.0}), 0);
  EXPECT_EQ(pooled_t_greater(std::vector{2.0, 2.0}, std::vector{1.0, 1.0}), 1);
}

TEST(Rules, NvbenchLegacyTakesTheSmallerDeviation) {
  const Processes quiet = {{99, 100, 101}};                               // mean 100, deviation 1 %
  EXPECT_EQ(nvbench_legacy(quiet, {{81.5, 101.5, 121.5}}), Call::slower); // 1.5 %, its own 20 %
  EXPECT_EQ(nvbench_legacy(quiet, {{100.8, 100.9, 101.0}}), Call::slower);
  EXPECT_EQ(nvbench_legacy(quiet, {{99.9, 100.9, 101.9}}), Call::same); // 0.9 % of 1 % or 0.99 %
  EXPECT_EQ(nvbench_legacy(quiet, {{97, 98, 99}}), Call::faster);
}

TEST(Rules, NvbenchRobustLooksAtTheGapBetweenLeastAndThirdQuartile) {
  const Processes a = {{100, 100, 101, 102, 110}}; // q3: rank round(0.75 * 4) = 3, 102
  EXPECT_EQ(nvbench_robust(a, {{102.51, 103, 104, 105, 106}}), Call::slower);
  EXPECT_EQ(nvbench_robust(a, {{102.50, 103, 104, 105, 106}}), Call::undecided); // below 102.51
  EXPECT_EQ(nvbench_robust(a, {{90, 130, 130, 130, 130}}), Call::undecided);     // one fast sample
  EXPECT_EQ(nvbench_robust(a, {{90, 91, 92, 93, 200}}), Call::faster);
  EXPECT_EQ(nvbench_robust(a, {{100.1, 100.3, 101.2, 102.1, 110.2}}), Call::same);
  EXPECT_EQ(nvbench_robust(a, {{100.1, 100.3, 101.2, 102.1, 112}}), Call::undecided);
}

TEST(Rules, FixedThresholdsCompareMediansOfOneProcess) {
  const Processes a = {{90, 100, 200}};
  EXPECT_EQ(fixed_5(a, {{1, 105, 900}}), Call::same);
  EXPECT_EQ(fixed_5(a, {{1, 105.1, 900}}), Call::slower);
  EXPECT_EQ(fixed_5(a, {{1, 95, 900}}), Call::faster);
  EXPECT_EQ(fixed_10(a, {{1, 109, 900}, {500}}), Call::same);
  EXPECT_EQ(fixed_10(a, {{1, 111, 900}, {1}}), Call::slower);
}

TEST(Rules, OneDnnComparesProcessesAndLaterAlsoAsksForTenPercent) {
  const Processes a = {{100}, {101}, {99}, {100}, {100}};
  const Processes slower = {{103}, {104}, {102}, {103}, {103}};
  EXPECT_EQ(onednn_t(a, slower), Call::slower);
  EXPECT_EQ(onednn_t(slower, a), Call::faster);
  EXPECT_EQ(onednn_t(a, a), Call::same);
  EXPECT_EQ(onednn_t_10(a, slower), Call::same);
  EXPECT_EQ(onednn_t_10(a, {{113}, {114}, {112}, {113}, {113}}), Call::slower);
}

// Processes differ by 0.7 % and samples within one by 2 %, skewed to the right: how often each rule
// calls B slower.
std::map<std::string, double> flagged(double change, int trials) {
  constexpr double kWithin = 0.02, kBetween = 0.007;
  constexpr int kProcesses = 5, kSamples = 50;
  std::mt19937 random(20260117);
  std::normal_distribution<double> process(0, kBetween);
  std::gamma_distribution<double> within(4, kWithin / 2); // sd kWithin
  const auto draw = [&](double level) {
    Processes all(kProcesses);
    for (std::vector<double>& samples : all) {
      const double centre = level * std::exp(process(random));
      for (int i = 0; i < kSamples; ++i) samples.push_back(centre * (1 + within(random)));
    }
    return all;
  };
  std::map<std::string, double> rates;
  for (int trial = 0; trial < trials; ++trial) {
    const Processes a = draw(1e5), b = draw(1e5 * (1 + change));
    for (const Rule& rule : rivals())
      rates[std::string(rule.name)] += (rule.decide(a, b) == Call::slower) / double(trials);
  }
  return rates;
}

TEST(Rules, ErrorRatesUnderModelledNoise) {
  const std::map<std::string, double> same = flagged(0, 1000), five = flagged(0.05, 300),
                                      ten = flagged(0.10, 300);
  // Exact by construction: 5 % (binomial sd 0.7 %).
  EXPECT_NEAR(same.at("onednn_t"), 0.05, 0.025);
  // Samples of one process are no replicates of it: half of all significant differences are slower
  // ones, and far more than 2.5 % are significant.
  EXPECT_GT(same.at("mann_whitney"), 0.15);
  EXPECT_LT(same.at("mann_whitney"), 0.45);
  EXPECT_LT(same.at("nvbench_legacy"), 0.15);
  EXPECT_LT(same.at("nvbench_robust"), 0.01);
  EXPECT_LT(same.at("fixed_5"), 0.01);
  // A threshold at the very change finds it half the time.
  EXPECT_NEAR(five.at("fixed_5"), 0.5, 0.12);
  EXPECT_NEAR(ten.at("fixed_10"), 0.5, 0.12);
  EXPECT_EQ(five.at("fixed_10"), 0);
  for (const char* rule : {"nvbench_legacy", "mann_whitney", "fixed_5", "onednn_t"})
    EXPECT_GT(ten.at(rule), 0.98) << rule;
}

} // namespace
} // namespace kg::selftest
