// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Cross entropy and its gradient: the oracles' known answers, and bounds between legal f32
// arithmetic and the usual mistakes.
#include "tests/oracle/oracle_cross_entropy.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_cross_entropy.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
using Targets = std::vector<std::int64_t>;

TEST(CrossEntropyOracle, known_answers) {
  const auto plain =
      cross_entropy_oracle({.rows = 2, .classes = 2}, Values{1000, 1000, 3, 0}, Targets{1, -100});
  EXPECT_EQ(plain.loss, (Values{std::log(2), 0}));
  EXPECT_EQ(plain.log_sum, (Values{1000 + std::log(2), 0}));
  EXPECT_EQ(plain.counts, (std::vector<bool>{true, false}));

  const CrossEntropyProblem all{.rows = 1, .classes = 2, .label_smoothing = 0.5, .z_loss = 0.25};
  const auto smoothed = cross_entropy_oracle(all, Values{1, 3}, Targets{0});
  const double log_of_sum = std::log(1 + std::exp(-2)), log_sum = 3 + log_of_sum;
  EXPECT_DOUBLE_EQ(smoothed.loss[0], log_sum - 0.75 * 1 - 0.25 * 3 + 0.25 * log_sum * log_sum);
  EXPECT_DOUBLE_EQ(smoothed.log_of_sum[0], log_of_sum);
  EXPECT_EQ(smoothed.distance[0], 2);
  EXPECT_EQ(smoothed.apart[0], 1);
  EXPECT_DOUBLE_EQ(smoothed.spread[0], 2 * std::exp(-2) / (1 + std::exp(-2)));

  const auto slope =
      cross_entropy_backward_oracle(all, Values{1, 3}, Targets{0}, Values{3}, Values{-2});
  EXPECT_DOUBLE_EQ(slope.value[0], -2 * (std::exp(-2) * 2.5 - 0.75));
  EXPECT_DOUBLE_EQ(slope.value[1], -2 * (2.5 - 0.25));
  EXPECT_EQ(slope.weight, (Values{1.5, 0.5}));
  EXPECT_EQ(slope.distance, (Values{2, 0}));
  EXPECT_EQ(slope.scale, (Values{5, 5}));
  EXPECT_EQ(slope.probability[1], 5);
}

TEST(CrossEntropyOracle, special_values) {
  const auto loss = [](const Values& x, double smoothing) {
    return cross_entropy_oracle({.rows = 1, .classes = 3, .label_smoothing = smoothing}, x,
                                Targets{1});
  };
  for (const double special : {kNan, kInfinity}) {
    EXPECT_TRUE(std::isnan(loss({special, 0, 0}, 0).loss[0]));
    EXPECT_TRUE(std::isnan(loss({0, special, 0}, 0).log_sum[0]));
  }
  EXPECT_EQ(loss({-kInfinity, 2, 2}, 0).loss[0], std::log(2));
  EXPECT_EQ(loss({-kInfinity, 2, 2}, 0.1).loss[0], kInfinity);
  EXPECT_EQ(loss({2, -kInfinity, 2}, 0).loss[0], kInfinity);
  EXPECT_EQ(loss({2, -kInfinity, 2}, 0).log_sum[0], 2 + std::log(2));
  const auto nothing = loss({-kInfinity, -kInfinity, -kInfinity}, 0);
  EXPECT_TRUE(std::isnan(nothing.loss[0]));
  EXPECT_EQ(nothing.log_sum[0], -kInfinity);
  EXPECT_EQ(cross_entropy_backward_oracle({.rows = 1, .classes = 1}, Values{kNan}, Targets{-100},
                                          Values{kNan}, Values{kNan})
                .value,
            Values{0});
}

TEST(CrossEntropyOracle, refuses_wrong_sizes_and_targets) {
  const CrossEntropyProblem p{.rows = 1, .classes = 2};
  EXPECT_THROW(cross_entropy_oracle(p, Values{1}, Targets{0}), Error);
  EXPECT_THROW(cross_entropy_oracle(p, Values{1, 2}, Targets{}), Error);
  EXPECT_THROW(cross_entropy_oracle(p, Values{1, 2}, Targets{2}), Error);
  EXPECT_THROW(cross_entropy_oracle(p, Values{1, 2}, Targets{-1}), Error);
  EXPECT_THROW(cross_entropy_backward_oracle(p, Values{1, 2}, Targets{0}, Values{}, Values{1}),
               Error);
}

// By differences, and in the sum over a row: the weights sum to 1, as the probabilities do.
TEST(CrossEntropyOracle, gradient_is_the_slope_of_the_loss) {
  constexpr double kStep = 1e-5;
  const CrossEntropyProblem p{.rows = 2, .classes = 20, .label_smoothing = 0.3, .z_loss = 0.01};
  const Values x = normal(Dtype::f32, 40, Tensor::a).values;
  const Targets target = {4, 19};
  const Values dloss = {3, -0.5};
  const auto forward = cross_entropy_oracle(p, x, target);
  const auto backward = cross_entropy_backward_oracle(p, x, target, forward.log_sum, dloss);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto loss = [&](double step) {
      Values moved = x;
      moved[i] += step;
      return cross_entropy_oracle(p, moved, target).loss[i / 20];
    };
    EXPECT_NEAR(backward.value[i], dloss[i / 20] * (loss(kStep) - loss(-kStep)) / (2 * kStep),
                1e-8);
  }
  for (const std::size_t row : {0, 1}) {
    const auto first = backward.value.begin() + static_cast<std::ptrdiff_t>(20 * row);
    EXPECT_NEAR(std::accumulate(first, first + 20, 0.0),
                dloss[row] * 2 * p.z_loss * forward.log_sum[row], 1e-14);
  }
}

TEST(CrossEntropyTolerance, is_what_its_formula_says) {
  const CrossEntropyProblem p{.rows = 1, .classes = 8, .label_smoothing = 0.5, .z_loss = 0.25};
  const CrossEntropyOracle oracle{
      {true}, {-1},  {4}, {2},
      {3},    {0.5}, {6}}; // loss, lse, log of the sum, distance, spread, apart
  const double of_log = kU32 * (8 + 2.4 * 4 + 2.25 * 0.5 + 2 * 2);
  expect_bound(Dtype::f32, 2, log_of_sum_f32_tolerance(2, 0.5, 16), of_log);
  expect_bound(Dtype::f32, 4, log_sum_exp_f32_tolerance(4, 2, 0.5, 16), of_log + 4 * kU32);
  // The terms are 2, 3, 0.5 x 6 and 0.25 x 16.
  expect_bound(Dtype::f32, -1, cross_entropy_f32_tolerance(p, oracle, 0, 16),
               of_log + kU32 * (3 + 3 * 12) + kU32 * (12 + 1.5 * 4) * 3 +
                   2 * 0.25 * 4 * (of_log + 4 * kU32) + 3 * kU32 * 4);
  const CrossEntropyBackwardOracle slope{{-3}, {0.5}, {2}, {1.5}, {4}};
  expect_bound(Dtype::f32, -3, cross_entropy_backward_f32_tolerance(slope, 0),
               kU32 * (7.5 * 0.5 + 2 + 2 * 3) + 0x1p-149 * 8.5);
}

TEST(CrossEntropyTolerance, rows_without_a_number_are_exact) {
  const CrossEntropyProblem p{.rows = 3, .classes = 1};
  const auto oracle = cross_entropy_oracle(p, Values{2, kNan, 2}, Targets{0, 0, -100});
  for (const Values& bounds :
       {cross_entropy_tolerances(p, oracle, 1), log_sum_exp_tolerances(oracle, 1)}) {
    EXPECT_GT(bounds[0], 0);
    EXPECT_EQ(bounds[1], 0);
    EXPECT_EQ(bounds[2], 0);
  }
}

// One after the other in f32 with a running maximum, against sums in half precision, a lost term
// and a sum that is not rescaled.
TEST(CrossEntropyTolerance, losses_separate_f32_from_half_sums_and_lost_terms) {
  constexpr std::int64_t kRows = 32, kClasses = 1024;
  const CrossEntropyProblem p{.rows = kRows, .classes = kClasses};
  const Values x = normal(Dtype::f32, kRows * kClasses, Tensor::a).values;
  const Targets target(kRows, 7);
  const auto oracle = cross_entropy_oracle(p, x, target);
  const auto judged = [&](Dtype sums, std::size_t lost, bool rescaled) {
    Values actual;
    for (std::size_t first = 0; first < x.size(); first += kClasses) {
      float maximum = -std::numeric_limits<float>::max();
      double sum = 0;
      for (std::size_t i = first; i < first + kClasses - lost; ++i) {
        const auto logit = static_cast<float>(x[i]);
        if (logit > maximum) {
          if (rescaled) sum = round_to(sums, sum * std::exp(maximum - logit));
          maximum = logit;
        }
        sum = round_to(sums, sum + std::exp(logit - maximum));
      }
      actual.push_back(std::log(static_cast<float>(sum)) +
                       (maximum - static_cast<float>(x[first + 7])));
    }
    return judge(Dtype::f32, actual, oracle.loss, cross_entropy_tolerances(p, oracle, kClasses));
  };
  EXPECT_TRUE(judged(Dtype::f32, 0, true).passed()) << judged(Dtype::f32, 0, true).text();
  EXPECT_FALSE(judged(Dtype::f16, 0, true).passed());
  EXPECT_FALSE(judged(Dtype::f32, 1, true).passed());
  EXPECT_FALSE(judged(Dtype::f32, 0, false).passed());
}

} // namespace
} // namespace kg::test
