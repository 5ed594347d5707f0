// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/scaling.h"

#include "runtime/error.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using perf::fit_power;
using perf::Growth;
using perf::ScalingBase;

TEST(Scaling, APowerIsFoundExactly) {
  const perf::PowerFit fit = fit_power({1, 2, 3, 4, 5}, {3, 12, 27, 48, 75});
  EXPECT_NEAR(fit.exponent, 2, 1e-12);
  EXPECT_NEAR(fit.reach, 0, 1e-6);
}

// Three points about y = 2 x in logarithms, worked out by hand.
TEST(Scaling, TheIntervalIsStudents) {
  const auto e = [](double x) { return std::exp(x); };
  const perf::PowerFit fit = fit_power({e(-1), e(0), e(1)}, {e(-1.9), e(-0.2), e(2.1)});
  EXPECT_NEAR(fit.exponent, 2, 1e-12);
  // What is left is 0.1, -0.2 and 0.1: variance 0.06 over one degree, of squares 2.
  EXPECT_NEAR(fit.reach, 12.706 * std::sqrt(0.06 / 2), 1e-9);
}

TEST(Scaling, RefusesWhatHasNoFit) {
  EXPECT_THROW(fit_power({1, 2}, {1, 2}), Error);
  EXPECT_THROW(fit_power({1, 2, 3}, {1, 2}), Error);
  EXPECT_THROW(fit_power({1, 2, 3}, {1, 0, 2}), Error);
  EXPECT_THROW(fit_power({2, 2, 2}, {1, 1, 2}), Error);
}

TEST(Scaling, AVerdictNeedsTheInterval) {
  EXPECT_EQ(perf::judge({2.09, 0.5}, 2), Growth::as_expected);
  EXPECT_EQ(perf::judge({1.85, 0.1}, 2), Growth::undecided);
  EXPECT_EQ(perf::judge({1.85, 0.01}, 2), Growth::unlike);
  EXPECT_EQ(perf::judge({1.2, 0.1}, 1), Growth::unlike);
}

double products(const ScalingBase& base) {
  return static_cast<double>(base.steps * base.mlp.layers * base.mlp.batch * base.mlp.dim *
                             base.mlp.dim);
}

TEST(Scaling, EachIsScaledByItself) {
  const auto all = perf::scale({}, 5, products);
  EXPECT_EQ(all.size(), 4U);
  EXPECT_EQ(perf::exit_code(all), 0) << perf::text(all);
}

TEST(Scaling, GrowthOfAnotherKindFails) {
  const auto cubic = [](const ScalingBase& base) {
    return products(base) * static_cast<double>(base.mlp.dim);
  };
  EXPECT_EQ(perf::exit_code(perf::scale({}, 5, cubic)), 1);
  const auto overhead = [](const ScalingBase& base) { return 1e12 + products(base); };
  EXPECT_EQ(perf::exit_code(perf::scale({}, 5, overhead)), 1);
}

// What no machine's noise reaches: the operations that the steps of a training need.
TEST(Scaling, TheModelsOwnWorkGrowsAsTheory) {
  const auto flops = [](const ScalingBase& base) {
    const models::Model model = models::mlp(base.mlp, models::Purpose::training);
    double sum = 0;
    for (const models::Step& step : model.tape.steps()) sum += step.work.flops;
    return sum * static_cast<double>(base.steps);
  };
  const auto all = perf::scale({}, 5, flops);
  EXPECT_EQ(perf::exit_code(all), 0) << perf::text(all);
}

TEST(Scaling, ATrainingTakesTime) {
  EXPECT_GT(perf::time_of_training({.mlp = {.dim = 8, .layers = 1, .batch = 4}, .steps = 1}, 1), 0);
}

} // namespace
} // namespace kg::test
