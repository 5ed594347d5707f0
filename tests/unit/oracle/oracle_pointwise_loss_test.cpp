// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Losses of single elements: the oracle's known answers, and bounds between legal f32 arithmetic
// and the usual mistakes.
#include "tests/oracle/oracle_pointwise_loss.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using pointwise_loss::Kind;
constexpr double kTiny = 0x1p-150;

double loss(Kind kind, double x, double t) { return loss_oracle(kind, x, t, 0.5).value; }
double slope(Kind kind, double x, double t) { return slope_oracle(kind, x, t, 0.5, 3).value; }

TEST(PointwiseLossOracle, known_answers) {
  EXPECT_EQ(loss(Kind::mse, 5, 2), 9);
  EXPECT_EQ(slope(Kind::mse, 5, 2), 18);
  EXPECT_EQ(loss(Kind::huber, 2.25, 2), 0.03125);
  EXPECT_EQ(loss(Kind::huber, 2.5, 2), 0.125); // of both sides of the corner
  EXPECT_EQ(loss(Kind::huber, -1, 2), 0.5 * (3 - 0.25));
  EXPECT_EQ(slope(Kind::huber, 2.25, 2), 0.75);
  EXPECT_EQ(slope(Kind::huber, -1, 2), -1.5);
  EXPECT_EQ(loss(Kind::bce, 0, 0.5), std::log(2));
  EXPECT_EQ(loss(Kind::bce, 700, 0), 700);
  EXPECT_EQ(loss(Kind::bce, -700, 0), std::exp(-700));
  EXPECT_DOUBLE_EQ(loss(Kind::bce, 2, 0.25), -0.25 * std::log(1 / (1 + std::exp(-2))) -
                                                 0.75 * std::log(1 - 1 / (1 + std::exp(-2))));
  EXPECT_EQ(slope(Kind::bce, 0, 0.25), 0.75);
  EXPECT_EQ(loss(Kind::kl, std::log(0.5), 0.5), 0);
  EXPECT_DOUBLE_EQ(loss(Kind::kl, -3, 0.5), 0.5 * (std::log(0.5) + 3));
  EXPECT_EQ(loss(Kind::kl, -kInfinity, 0), 0);
  EXPECT_EQ(slope(Kind::kl, -3, 0.5), -1.5);
}

TEST(PointwiseLossOracle, bounds_are_what_their_formulas_say) {
  const auto check = [](const LossOracle& oracle, double by_hand) {
    expect_bound(Dtype::f32, oracle.value, oracle.tolerance, by_hand);
  };
  check(loss_oracle(Kind::mse, 5, 2, 1), 36 * kU32 + kTiny);
  check(loss_oracle(Kind::huber, 2.25, 2, 0.5), 0.125 * kU32 + 2 * kTiny);
  check(loss_oracle(Kind::huber, -1, 2, 0.5), 2 * 3.25 * kU32 + kTiny);
  check(loss_oracle(Kind::bce, 2, 0.25, 1),
        kU32 * (3 * 2.5 + 10 * std::log1p(std::exp(-2))) + 4 * kTiny);
  check(loss_oracle(Kind::kl, -3, 0.5, 1), kU32 * (1.5 * std::log(2) + 4.5) + kTiny);
  check(slope_oracle(Kind::mse, 5, 2, 1, -2), 36 * kU32 + kTiny);
  check(slope_oracle(Kind::bce, 0, 0.25, 1, -2), 1.5 * kU32 + kTiny + 2 * (4 * kU32 + 10 * kTiny));
}

// f32 arithmetic, against a logarithm of a rounded sum and a sigmoid whose exponential overflows.
TEST(PointwiseLossOracle, bounds_separate_stable_forms_from_naive_ones) {
  constexpr std::int64_t kN = 4096;
  const std::vector<double> x = outliers(Dtype::f32, kN, 3, 16, Tensor::a).values;
  const auto judged = [&](auto form) {
    std::vector<double> actual, expected, bounds;
    for (const double each : x) {
      const LossOracle oracle = loss_oracle(Kind::bce, each, 0, 1);
      actual.push_back(form(static_cast<float>(each)));
      expected.push_back(oracle.value);
      bounds.push_back(oracle.tolerance);
    }
    return judge(Dtype::f32, actual, expected, bounds).passed();
  };
  EXPECT_TRUE(
      judged([](float v) { return std::fmax(v, 0.0F) + std::log1p(std::exp(-std::fabs(v))); }));
  EXPECT_FALSE(judged(
      [](float v) { return std::fmax(v, 0.0F) + std::log(1.0F + std::exp(-std::fabs(v))); }));
  EXPECT_FALSE(judged([](float v) { return -std::log(1.0F - 1.0F / (1.0F + std::exp(-v))); }));
}

} // namespace
} // namespace kg::test
