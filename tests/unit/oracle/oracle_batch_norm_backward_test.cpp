// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of batch normalisation by hand and against numerical differentiation of the forward
// oracle.
#include "tests/oracle/oracle_batch_norm_backward.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_batch_norm.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

// n = -1, 1, 2, 0 with mean 3 and rstd 1/2.
TEST(BatchNormBackwardOracle, ByHand) {
  const auto oracle = batch_norm_backward_oracle(Values{1, 2, -1, 4}, Values{1, 5, 7, 3}, Values{6},
                                                 Values{3}, Values{0.5});
  EXPECT_EQ(oracle.dbeta, Values{6});
  EXPECT_EQ(oracle.dbeta_abs, Values{8});
  EXPECT_EQ(oracle.dgamma, Values{-1});
  EXPECT_EQ(oracle.dgamma_abs, Values{5});
  EXPECT_EQ(oracle.dx, (Values{3 * (1 - 1.5 - 0.25), 3 * (2 - 1.5 + 0.25), 3 * (-1 - 1.5 + 0.5),
                               3 * (4 - 1.5)}));
  EXPECT_EQ(oracle.direct, (Values{3, 6, 3, 12}));
  EXPECT_EQ(oracle.average, Values(4, 6));
  EXPECT_EQ(oracle.projection, (Values{3.75, 3.75, 7.5, 0}));
}

TEST(BatchNormBackwardOracle, IsTheDerivativeOfTheForwardOne) {
  constexpr std::int64_t kChannels = 3, kEach = 8;
  constexpr double kEpsilon = 0.125;
  const Values dy = normal(Dtype::f32, kChannels * kEach, Tensor::a).values;
  Values x = normal(Dtype::f32, kChannels * kEach, Tensor::b).values;
  Values gamma = normal(Dtype::f32, kChannels, Tensor::c).values;
  Values beta = normal(Dtype::f32, kChannels, Tensor::c, seed() + 1).values;
  const auto loss = [&] {
    const auto y = batch_norm_oracle(x, kChannels, gamma, beta, kEpsilon).y.value;
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
    return sum;
  };
  const BatchNormOracle forward = batch_norm_oracle(x, kChannels, gamma, beta, kEpsilon);
  Values rstd;
  for (const double variance : forward.variance) rstd.push_back(1 / std::sqrt(variance + kEpsilon));
  const auto oracle = batch_norm_backward_oracle(dy, x, gamma, forward.mean, rstd);
  const auto expect_slopes = [&](Values& by, const Values& slopes) {
    ASSERT_EQ(by.size(), slopes.size());
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < by.size(); ++i) {
      const double at = by[i];
      by[i] = at + kStep;
      const double above = loss();
      by[i] = at - kStep;
      const double below = loss();
      by[i] = at;
      EXPECT_NEAR(slopes[i], (above - below) / (2 * kStep), 1e-7) << i;
    }
  };
  expect_slopes(x, oracle.dx);
  expect_slopes(gamma, oracle.dgamma);
  expect_slopes(beta, oracle.dbeta);
}

TEST(BatchNormBackwardOracle, RefusesSizesThatDoNotMatch) {
  const Values two(2), three(3), six(6);
  EXPECT_THROW(batch_norm_backward_oracle(six, Values(5), {}, two, two), Error);
  EXPECT_THROW(batch_norm_backward_oracle(Values(7), Values(7), {}, two, two), Error);
  EXPECT_THROW(batch_norm_backward_oracle(six, six, {}, two, three), Error);
  EXPECT_THROW(batch_norm_backward_oracle(six, six, three, two, two), Error);
  EXPECT_TRUE(batch_norm_backward_oracle({}, {}, {}, {}, {}).dx.empty());
}

} // namespace
} // namespace kg::test
