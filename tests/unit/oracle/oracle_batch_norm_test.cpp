// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Batch normalisation's oracle by hand and beside layer normalisation's, and its bounds between
// legal f32 arithmetic and the usual mistakes.
#include "tests/oracle/oracle_batch_norm.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

TEST(BatchNormOracle, ByHand) {
  const BatchNormOracle oracle =
      batch_norm_oracle(Values{1, 3, 1, 3, 10, 10, 14, 14}, 2, Values{3, -1}, Values{0.5, 2}, 0);
  EXPECT_EQ(oracle.mean, (Values{2, 12}));
  EXPECT_EQ(oracle.variance, (Values{1, 4}));
  EXPECT_EQ(oracle.y.value, (Values{-2.5, 3.5, -2.5, 3.5, 3, 3, 1, 1}));
  EXPECT_EQ(oracle.y.skew, (Values{2, 2, 2, 2, 6, 6, 6, 6}));
  EXPECT_EQ(oracle.y.gamma, (Values{3, 3, 3, 3, 1, 1, 1, 1}));
  EXPECT_EQ(oracle.y.beta, (Values{0.5, 0.5, 0.5, 0.5, 2, 2, 2, 2}));
  const NormOracle given =
      batch_norm_inference_oracle(Values{5, 6, 7, 8}, {}, {}, Values{4, 0}, Values{3, 15}, 1);
  EXPECT_EQ(given.value, (Values{0.5, 1, 1.75, 2}));
}

TEST(BatchNormOracle, WithoutGammaAndBetaItIsLayerNorm) {
  const Values x = normal(Dtype::f32, 60, Tensor::a).values;
  EXPECT_EQ(batch_norm_oracle(x, 5, {}, {}, 0.25).y.value,
            layer_norm_oracle(x, 5, 12, {}, {}, 0.25).value);
}

TEST(BatchNormOracle, RefusesSizesThatDoNotMatch) {
  EXPECT_THROW(batch_norm_oracle(Values(7), 2, {}, {}, 0), Error);
  EXPECT_THROW(batch_norm_oracle(Values(8), 2, Values(3), {}, 0), Error);
  EXPECT_THROW(batch_norm_inference_oracle(Values(8), {}, {}, Values(2), Values(1), 0), Error);
  EXPECT_TRUE(batch_norm_oracle({}, 0, {}, {}, 0).y.value.empty());
}

TEST(BatchNormOracle, InferenceBound) {
  const NormOracle oracle =
      batch_norm_inference_oracle(Values{5}, Values{3}, Values{1}, Values{1}, Values{4}, 0);
  expect_bound(Dtype::f32, 7, batch_norm_inference_tolerances(oracle, Dtype::f32)[0],
               kU32 * (6 * 2 * 3 + 7));
}

// f32 as a kernel has it passes; x scale + (beta - mean scale) at a mean of 1000 does not.
TEST(BatchNormOracle, InferenceBoundTellsAFoldedMean) {
  const Values noise = normal(Dtype::f32, 400, Tensor::a).values;
  Values x, ours, folded;
  const float mean = 1000.25f, variance = 1.5f, gamma = 0.75f, beta = 0.5f;
  const float scale = 1.0f / std::sqrt(variance) * gamma;
  const float shift = beta - mean * scale;
  for (const double each : noise) {
    const auto value = static_cast<float>(1000 + each);
    x.push_back(value);
    ours.push_back((value - mean) * scale + beta);
    const float product = value * scale;
    folded.push_back(product + shift);
  }
  const NormOracle oracle = batch_norm_inference_oracle(x, Values{gamma}, Values{beta},
                                                        Values{mean}, Values{variance}, 0);
  const Values bounds = batch_norm_inference_tolerances(oracle, Dtype::f32);
  EXPECT_TRUE(judge(Dtype::f32, ours, oracle.value, bounds).passed());
  EXPECT_FALSE(judge(Dtype::f32, folded, oracle.value, bounds).passed());
}

// Two passes in f32 pass, E[x^2] - mean^2 does not, at a mean of 1000 and a deviation of 1.
TEST(BatchNormOracle, StatisticsBoundsTellOnePass) {
  constexpr std::int64_t kCount = 512;
  Values x;
  for (const double each : normal(Dtype::f32, kCount, Tensor::b).values)
    x.push_back(static_cast<float>(1000 + each));
  const BatchNormOracle oracle = batch_norm_oracle(x, 1, {}, {}, 0);
  const StatisticsBounds bounds = batch_norm_statistics_bounds(oracle.mean[0], oracle.variance[0],
                                                               0, Dtype::f32, kCount, kCount);
  float sum = 0, raw = 0;
  for (const double each : x) {
    const auto value = static_cast<float>(each);
    sum += value;
    const float square = value * value;
    raw += square;
  }
  const float mean = sum / kCount;
  float squares = 0;
  for (const double each : x) {
    const float centred = static_cast<float>(each) - mean;
    const float square = centred * centred;
    squares += square;
  }
  EXPECT_LE(std::fabs(mean - oracle.mean[0]), bounds.mean);
  EXPECT_LE(std::fabs(squares / kCount / oracle.variance[0] - 1), bounds.variance);
  const float square_of_mean = mean * mean;
  EXPECT_GT(std::fabs((raw / kCount - square_of_mean) / oracle.variance[0] - 1), bounds.variance);
}

} // namespace
} // namespace kg::test
