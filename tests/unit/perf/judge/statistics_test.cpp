// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Known answers come from rational arithmetic (Python's fractions, binomial coefficients summed
// exactly), not from this code.
#include "perf/judge/statistics.h"

#include "runtime/error.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace kg::judge {
namespace {

using Values = std::vector<double>;

TEST(Statistics, Median) {
  EXPECT_EQ(median(Values{3}), 3);
  EXPECT_EQ(median(Values{3, 1}), 2);
  EXPECT_EQ(median(Values{9, 1, 5}), 5);
  EXPECT_EQ(median(Values{4, 1, 3, 100}), 3.5);
  EXPECT_EQ(median(Values{1.5e308, 1.7e308}), 1.6e308); // their sum would overflow
}

TEST(Statistics, QuantileInterpolates) {
  const Values values = {40, 10, 20, 30};
  EXPECT_EQ(quantile(values, 0), 10);
  EXPECT_EQ(quantile(values, 0.25), 17.5);
  EXPECT_EQ(quantile(values, 0.5), 25);
  EXPECT_EQ(quantile(values, 1), 40);
  EXPECT_EQ(quantile(Values{7}, 0.3), 7);
  EXPECT_THROW(quantile(values, 1.1), Error);
}

TEST(Statistics, MedianAbsoluteDeviation) {
  EXPECT_EQ(mad(Values{1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(mad(Values{5, 5, 5}), 0);
}

TEST(Statistics, NothingAndNonsenseAreRefused) {
  EXPECT_THROW(median(Values{}), Error);
  EXPECT_THROW(median(Values{1, std::nan("")}), Error);
  EXPECT_THROW(mad(Values{1, std::numeric_limits<double>::infinity()}), Error);
  EXPECT_THROW(median_interval(Values{1, 2}, 1.0), Error);
  EXPECT_THROW(geometric_mean(Values{1, -1}), Error);
}

TEST(Statistics, GeometricMean) {
  EXPECT_DOUBLE_EQ(geometric_mean(Values{1, 4}), 2);
  EXPECT_EQ(geometric_mean(Values{0, 4}), 0);
  EXPECT_NEAR(geometric_mean(Values(1000, 1e-300)) / 1e-300, 1, 1e-9); // the product underflows
}

TEST(Statistics, BinomialTails) {
  const auto expect_close = [](double found, double exact) {
    EXPECT_NEAR(found / exact, 1, 1e-11);
  };
  expect_close(binomial_at_most(0, 10, 0.5), 0.0009765625);
  expect_close(binomial_at_most(3, 10, 0.5), 0.171875);
  expect_close(binomial_at_most(12, 40, 0.5), 0.008294501687487355);
  expect_close(binomial_at_most(2, 100, 0.001), 0.9998496236341458);
  expect_close(binomial_at_most(950, 2000, 0.5), 0.013412073120140347);
  expect_close(binomial_at_most(880, 2000, 0.5), 4.388695881992121e-08);
  expect_close(binomial_at_most(1, 3000, 0.0001), 0.9630714665120287);
  expect_close(binomial_at_least(30, 40, 0.5), 0.0011107168866146822);
  expect_close(binomial_at_least(40, 40, 0.5), 0x1p-40);
  expect_close(binomial_at_least(299, 300, 0.99), 0.1976496639842733);
  EXPECT_EQ(binomial_at_most(10, 10, 0.5), 1);
  EXPECT_EQ(binomial_at_least(0, 10, 0.5), 1);
  EXPECT_EQ(binomial_at_least(11, 10, 0.5), 0);
  EXPECT_EQ(binomial_at_most(3, 10, 0), 1);
  EXPECT_EQ(binomial_at_most(3, 10, 1), 0);
}

TEST(Statistics, IncompleteBetaIsSymmetricAndRises) {
  for (const double a : {0.5, 1.0, 7.0, 900.0})
    for (const double b : {0.5, 2.0, 30.0, 1100.0}) {
      double before = 0;
      for (const double x : {0.0, 0.001, 0.2, 0.45, 0.5, 0.8, 0.999, 1.0}) {
        const double value = incomplete_beta(a, b, x);
        EXPECT_NEAR(value + incomplete_beta(b, a, 1 - x), 1, 1e-11);
        EXPECT_GE(value, before - 1e-14);
        before = value;
      }
    }
  EXPECT_DOUBLE_EQ(incomplete_beta(1, 1, 0.3), 0.3); // the uniform distribution
  EXPECT_THROW(incomplete_beta(0, 1, 0.5), Error);
}

TEST(Statistics, RanksOfTheMedianInterval) {
  struct Known {
    std::size_t n, at_99, at_95;
  };
  for (const auto [n, at_99, at_95] : std::vector<Known>{{1, 0, 0},
                                                         {5, 0, 0},
                                                         {6, 0, 1},
                                                         {7, 0, 1},
                                                         {8, 1, 1},
                                                         {9, 1, 2},
                                                         {10, 1, 2},
                                                         {15, 3, 4},
                                                         {20, 4, 6},
                                                         {30, 8, 10},
                                                         {31, 8, 10},
                                                         {60, 20, 22},
                                                         {100, 37, 40},
                                                         {101, 38, 41},
                                                         {500, 221, 228},
                                                         {2000, 942, 956}}) {
    EXPECT_EQ(median_interval_rank(n, 0.99), at_99) << n;
    EXPECT_EQ(median_interval_rank(n, 0.95), at_95) << n;
  }
  EXPECT_EQ(median_interval_rank(kFewestSamples - 1, 0.99), 0u);
  EXPECT_EQ(median_interval_rank(kFewestSamples, 0.99), 1u);
}

TEST(Statistics, MedianIntervalTakesTheRanks) {
  Values values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const MedianInterval found = median_interval(values, 0.99);
  EXPECT_EQ(found.interval, (Interval{37, 64}));
  EXPECT_NEAR(found.coverage, 0.9933628794840739, 1e-12);
  const MedianInterval few = median_interval(Values{3, 1, 2, 5, 4}, 0.99);
  EXPECT_EQ(few.interval, (Interval{1, 5}));
  EXPECT_NEAR(few.coverage, 0.9375, 1e-12);
  EXPECT_EQ(median_interval(Values{3}, 0.99).coverage, 0);
}

// The share of intervals that contain the true median must reach the promise for every
// distribution. 4000 trials know a share of 0.99 with an sd of 0.0016; four sds are allowed.
void expect_coverage(const std::function<double(std::mt19937_64&)>& draw, double true_median,
                     double at_most = 1) {
  constexpr int kTrials = 4000;
  for (const int n : {8, 31, 100}) {
    std::mt19937_64 random(20240607u + static_cast<unsigned>(n));
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Values values;
      for (int i = 0; i < n; ++i) values.push_back(draw(random));
      const Interval interval = median_interval(values, 0.99).interval;
      covered += interval.low <= true_median && true_median <= interval.high;
    }
    const double share = static_cast<double>(covered) / kTrials;
    EXPECT_GE(share, 0.99 - 4 * 0.0016) << "n = " << n;
    EXPECT_LE(share, at_most) << "n = " << n;
  }
}

TEST(Coverage, Skewed) {
  std::lognormal_distribution<double> skewed(0, 1);
  // Continuous, so the promise is kept and not exceeded: the coverage at these n is at most 0.9947.
  expect_coverage([&](auto& random) { return skewed(random); }, 1, 0.9947 + 4 * 0.0012);
}

TEST(Coverage, Tied) {
  std::lognormal_distribution<double> skewed(0, 0.1);
  // A clock of coarse ticks: three in five samples read the same.
  expect_coverage([&](auto& random) { return std::round(4 * skewed(random)) / 4; }, 1);
}

TEST(Coverage, Bimodal) {
  std::normal_distribution<double> narrow(0, 0.01);
  std::bernoulli_distribution upper(0.5);
  // The true median lies in the empty gap between the modes at 1 and 2; by symmetry it is 1.5.
  expect_coverage([&](auto& random) { return narrow(random) + (upper(random) ? 2 : 1); }, 1.5);
}

// The same of the trimmed t interval, for differences of two draws, which are symmetric about 0
// whatever the draws are: 4000 trials know a share of 0.95 with an sd of 0.0034.
void expect_t_coverage(const std::function<double(std::mt19937_64&)>& draw) {
  constexpr int kTrials = 4000;
  for (const std::size_t n : {20u, 40u}) {
    std::mt19937_64 random(20240607u + n);
    const double quantile = student_t_quantile(0.975, static_cast<double>(n - n / 10 - 1));
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      Values values;
      for (std::size_t i = 0; i < n; ++i) values.push_back(draw(random) - draw(random));
      const TrimmedMean found = trimmed_mean(values, n / 20);
      covered += std::abs(found.mean) <= quantile * found.error;
    }
    EXPECT_GE(static_cast<double>(covered) / kTrials, 0.95 - 4 * 0.0034) << "n = " << n;
  }
}

TEST(Coverage, TrimmedTOfSkewedTiedBimodalAndWildSamples) {
  std::lognormal_distribution<double> skewed(0, 1), less_skewed(0, 0.1);
  std::normal_distribution<double> narrow(0, 0.01);
  std::bernoulli_distribution upper(0.5), wild(0.03);
  expect_t_coverage([&](auto& random) { return narrow(random); });
  expect_t_coverage([&](auto& random) { return skewed(random); });
  expect_t_coverage([&](auto& random) { return std::round(4 * less_skewed(random)) / 4; });
  expect_t_coverage([&](auto& random) { return narrow(random) + (upper(random) ? 2 : 1); });
  expect_t_coverage([&](auto& random) { return narrow(random) + (wild(random) ? 50 : 0); });
}

TEST(Statistics, ClopperPearson) {
  struct Known {
    std::size_t hits, trials;
    double low, high;
  };
  for (const auto [hits, trials, low, high] :
       std::vector<Known>{{0, 10, 0, 0.30849710781876083},
                          {1, 10, 0.0025285785444617843, 0.44501611702819543},
                          {5, 10, 0.18708602844739852, 0.8129139715526015},
                          {10, 10, 0.6915028921812392, 1},
                          {197, 200, 0.9567917180822874, 0.9968958923784464},
                          {3, 1610, 0.0003844333673905487, 0.005435765507378798}}) {
    const Interval found = clopper_pearson(hits, trials, 0.95);
    EXPECT_NEAR(found.low, low, 1e-11 * low);
    EXPECT_NEAR(found.high, high, 1e-11 * high);
  }
  // 1 - 0.05^(1/3000): no false alarm in 3000 rows bounds the rate by 0.1 %.
  EXPECT_NEAR(clopper_pearson_upper(0, 3000, 0.95), 0.000998079011996587, 1e-14);
  EXPECT_THROW(clopper_pearson(1, 0, 0.95), Error);
  EXPECT_THROW(clopper_pearson(3, 2, 0.95), Error);
}

TEST(Statistics, StudentT) {
  // Closed forms: tan(pi (p - 1/2)) of one degree of freedom, (2p - 1) / sqrt(2p (1 - p)) of two.
  for (const double p : {0.51, 0.75, 0.9, 0.975, 0.99975}) {
    EXPECT_NEAR(student_t_quantile(p, 1) / std::tan(3.14159265358979324 * (p - 0.5)), 1, 1e-9);
    EXPECT_NEAR(student_t_quantile(p, 2) / ((2 * p - 1) / std::sqrt(2 * p * (1 - p))), 1, 1e-9);
    EXPECT_EQ(student_t_quantile(1 - p, 7), -student_t_quantile(1 - (1 - p), 7));
  }
  EXPECT_NEAR(student_t_quantile(0.975, 10), 2.2281388520, 1e-10);
  EXPECT_NEAR(student_t_quantile(0.975, 1e7), 1.959963984540054, 1e-5) << "the normal quantile";
  EXPECT_EQ(student_t_quantile(0.5, 3), 0);
  EXPECT_THROW(student_t_quantile(1, 3), Error);
  EXPECT_THROW(student_t_quantile(0.5, 0), Error);
}

TEST(Statistics, TrimmedMean) {
  // Nothing cut: the mean, and sd / sqrt(n).
  const TrimmedMean plain = trimmed_mean(Values{1, 2, 3, 4, 5}, 0);
  EXPECT_DOUBLE_EQ(plain.mean, 3);
  EXPECT_DOUBLE_EQ(plain.error, std::sqrt(2.5 / 5));
  EXPECT_EQ(plain.dof, 4);
  // One cut on either side: {2, 3, 4}, winsorised {2, 2, 3, 4, 4} with variance 1, so the error is
  // sqrt(1 * 5) / 3. How wild the wild one is does not matter.
  for (const double wild : {5.0, 1e6}) {
    const TrimmedMean trimmed = trimmed_mean(Values{wild, 2, 3, 4, 1}, 1);
    EXPECT_DOUBLE_EQ(trimmed.mean, 3);
    EXPECT_DOUBLE_EQ(trimmed.error, std::sqrt(5.0) / 3);
    EXPECT_EQ(trimmed.dof, 2);
    EXPECT_DOUBLE_EQ(trimmed.squares, 4);
  }
  EXPECT_THROW(trimmed_mean(Values{1}, 0), Error);
  EXPECT_THROW(trimmed_mean(Values{1, 2, 3}, 1), Error);
}

TEST(Modes, TwoClustersFarApart) {
  const Modes found = modes(Values{100, 107, 101, 106, 100.5, 106.5}, 0.02);
  EXPECT_EQ(found.count, 2);
  EXPECT_EQ(found.low, 100.5);
  EXPECT_EQ(found.high, 106.5);
}

TEST(Modes, WhatIsNotBimodal) {
  EXPECT_EQ(modes(Values{100, 101, 102, 103, 104}, 0.02).count, 1);
  EXPECT_EQ(modes(Values{100, 104, 108, 112, 116}, 0.02).count, 1) << "wide, but even";
  EXPECT_EQ(modes(Values{100, 100, 101, 101}, 0.02).count, 1) << "the gap does not matter";
  EXPECT_EQ(modes(Values{100, 101, 100.5, 150}, 0.02).count, 1) << "one wild process is not a mode";
  EXPECT_EQ(modes(Values{100, 150, 101}, 0.02).count, 1) << "too few";
  EXPECT_EQ(modes(Values{100}, 0.02).low, 100);
}

TEST(Modes, AWildProcessDoesNotHideTwoModes) {
  EXPECT_EQ(modes(Values{100, 100.1, 110, 110.1, 500}, 0.02).count, 2);
}

TEST(Stop, GoesOnUntilPreciseAndAtLeastThirty) {
  const Values same(29, 5.0);
  EXPECT_EQ(should_stop({}, same, 0), Stop::no);
  EXPECT_EQ(should_stop({}, Values(30, 5.0), 0), Stop::precise);
}

TEST(Stop, LooksAtTheMedianNotAtTheSpread) {
  // A tenth of the samples is far off: no spread-based rule ends here, and none is needed.
  Values samples(90, 100.0);
  samples.insert(samples.end(), 10, 1000.0);
  EXPECT_EQ(should_stop({}, samples, 0), Stop::precise);
}

TEST(Stop, HalfWidthOfOneInTwoHundred) {
  // X(8) and X(23) bound the median of 30. Half the width over the median: 0.5 % and a little more.
  const auto samples = [](double low, double high) {
    Values values(7, 1.0);
    values.push_back(low);
    values.insert(values.end(), 14, 1000.0);
    values.push_back(high);
    values.insert(values.end(), 7, 9000.0);
    return values;
  };
  EXPECT_EQ(should_stop({}, samples(995, 1005), 0), Stop::precise);
  EXPECT_EQ(should_stop({}, samples(995, 1005.1), 0), Stop::no);
}

TEST(Stop, EndsWithoutPrecision) {
  Values wide;
  for (int i = 0; i < 1999; ++i) wide.push_back(1 + i % 1000);
  EXPECT_EQ(should_stop({}, wide, 0), Stop::no);
  wide.push_back(1);
  EXPECT_EQ(should_stop({}, wide, 0), Stop::most);
  EXPECT_EQ(should_stop({}, Values{1, 2, 3, 4, 5, 6, 7}, 1e9), Stop::no);
  EXPECT_EQ(should_stop({}, Values{1, 2, 3, 4, 5, 6, 7, 8}, 1e9), Stop::budget);
  EXPECT_EQ(should_stop({}, Values{1, 2, 3, 4, 5, 6, 7, 8}, 1e8), Stop::no);
  EXPECT_EQ(should_stop({}, Values(30, -5.0), 0), Stop::no) << "of a difference that is none";
}

} // namespace
} // namespace kg::judge
