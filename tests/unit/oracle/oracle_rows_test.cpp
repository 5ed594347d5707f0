// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Extrema, means, log-softmax and normalisations: the oracles' known answers, and bounds between
// legal f32 arithmetic and the usual mistakes.
#include "tests/oracle/oracle_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_rows.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
using Row = std::vector<float>;
const double kNan = std::nan("");

TEST(RowsOracle, extrema_are_first_and_nan_wins) {
  const Values x = {1, 3, -2, 3, 0, kNan, 5, kNan, -kInfinity, -1, -kInfinity, -7};
  const ExtremumOracle most = row_maxima_oracle(x, 3, 4);
  const ExtremumOracle least = row_minima_oracle(x, 3, 4);
  EXPECT_EQ(most.value[0], 3);
  EXPECT_TRUE(std::isnan(most.value[1]) && std::isnan(least.value[1]));
  EXPECT_EQ(most.index, (std::vector<std::int64_t>{1, 1, 1}));
  EXPECT_EQ(least.index, (std::vector<std::int64_t>{2, 1, 0}));
  EXPECT_EQ(least.value[2], -kInfinity);
  EXPECT_THROW(row_maxima_oracle({}, 3, 0), Error);
  EXPECT_TRUE(row_maxima_oracle({}, 0, 0).value.empty());
}

TEST(RowsOracle, means) {
  const MeanOracle mean = row_means_oracle(Values{1, 2, 6, -3, 4, -4}, 2, 3);
  EXPECT_EQ(mean.value, (Values{3, -1}));
  EXPECT_DOUBLE_EQ(mean.mean_abs[1], 11.0 / 3);
  EXPECT_DOUBLE_EQ(mean.norm2[1], std::sqrt(41));
  EXPECT_TRUE(std::isnan(row_means_oracle({}, 1, 0).value[0]));
}

TEST(RowsOracle, log_softmax_is_the_logarithm_of_softmax) {
  const Fill x = outliers(Dtype::f32, 300, 5, 16, Tensor::a);
  const LogSoftmaxOracle log = log_softmax_oracle(x.values, 3, 100);
  const SoftmaxOracle softmax = softmax_oracle(x.values, 3, 100);
  for (std::size_t i = 0; i < 300; ++i)
    EXPECT_NEAR(std::exp(log.value[i]), softmax.value[i], 1e-14 * softmax.value[i]);
  const LogSoftmaxOracle edges = log_softmax_oracle(
      Values{0, -kInfinity, kInfinity, 0, -kInfinity, -kInfinity, kNan, 0}, 4, 2);
  EXPECT_EQ(edges.value[0], 0);
  EXPECT_EQ(edges.value[1], -kInfinity);
  for (std::size_t i = 2; i < 8; ++i) EXPECT_TRUE(std::isnan(edges.value[i])) << i;
}

TEST(RowsOracle, normalisations) {
  const Values x = {1, 2, 3, 6};
  const NormOracle layer = layer_norm_oracle(x, 1, 4, Values{1, 2, 1, 1}, Values{0, 5, 0, 0}, 0);
  const double deviation = std::sqrt(3.5);
  EXPECT_DOUBLE_EQ(layer.value[0], -2 / deviation);
  EXPECT_DOUBLE_EQ(layer.value[1], -1 / deviation * 2 + 5);
  EXPECT_DOUBLE_EQ(layer.skew[1], 3 / deviation);
  EXPECT_DOUBLE_EQ(layer.spread[1], 1);
  EXPECT_DOUBLE_EQ(layer_norm_oracle(x, 1, 4, {}, {}, 10.5).spread[1], 0.5);
  const NormOracle rms = rms_norm_oracle(x, 1, 4, {}, 2.5);
  EXPECT_DOUBLE_EQ(rms.value[3], 6 / std::sqrt(15));
  EXPECT_EQ(layer_norm_oracle(Values{7, 7}, 1, 2, {}, Values{3, 4}, 1e-5).value, (Values{3, 4}));
  EXPECT_THROW(layer_norm_oracle(x, 1, 4, Values{1, 2}, {}, 0), Error);
}

TEST(RowsTolerance, is_what_its_formula_says) {
  constexpr double kTiny = 0x1p-150;
  // L = 10 + 1024 / 512 = 12
  expect_bound(Dtype::f32, 0.5, mean_f32_tolerance(0.5, 32, 0.9, 1024, 256),
               kU32 * (2 * 512 + 6 * 32 * std::sqrt(12.0)) / 1024 + kU32 + kTiny);
  expect_bound(Dtype::f32, -5, log_softmax_f32_tolerance(-5, 3, 2, 16), kU32 * (8 + 5 + 3 + 4 + 6));
  expect_bound(Dtype::f32, 3, layer_norm_f32_tolerance(3, 2, 10, 0.5, 1.5, 0.5, 16),
               kU32 * ((11 * 2 + 22 * 10.5) * 1.5 + 3 + 1) + kTiny);
  expect_bound(Dtype::f32, -2, rms_norm_f32_tolerance(-2, 16), kU32 * 18 + kTiny);
  expect_bound(Dtype::f32, 0.1, average_pool_f32_tolerance(9, 0.5), kU32 * 5.5 + kTiny);
  EXPECT_EQ(log_softmax_f32_tolerance(-kInfinity, kInfinity, 2, 16), 0);
  EXPECT_EQ(mean_f32_tolerance(kNan, 0, kNan, 0, 1), 0);
}

// How a row is summed: one after the other, or by the lanes of a warp and a tree.
float sequential(const Row& x) {
  float sum = 0;
  for (const float value : x) sum += value;
  return sum;
}
float by_warp(const Row& x) {
  constexpr std::size_t kLanes = 32;
  Row parts(kLanes, 0.0F);
  for (std::size_t i = 0; i < x.size(); ++i) parts[i % kLanes] += x[i];
  for (std::size_t width = kLanes / 2; width > 0; width /= 2)
    for (std::size_t p = 0; p < width; ++p) parts[p] += parts[p + width];
  return parts[0];
}

using Sum = float (*)(const Row&);
using Statistics = std::function<std::pair<float, float>(const Row&)>; // mean and variance

Statistics two_pass(Sum sum) {
  return [sum](const Row& x) {
    const auto n = static_cast<float>(x.size());
    const float mean = sum(x) / n;
    Row squares;
    for (const float value : x) squares.push_back((value - mean) * (value - mean));
    return std::pair(mean, sum(squares) / n);
  };
}

std::pair<float, float> welford(const Row& x) {
  float mean = 0;
  float squares = 0;
  float count = 0;
  for (const float value : x) {
    count += 1;
    const float before = value - mean;
    mean += before / count;
    squares += before * (value - mean);
  }
  return {mean, squares / count};
}

Statistics one_pass(Sum sum) {
  return [sum](const Row& x) {
    const auto n = static_cast<float>(x.size());
    Row squares;
    for (const float value : x) squares.push_back(value * value);
    const float mean = sum(x) / n;
    return std::pair(mean, std::max(sum(squares) / n - mean * mean, 0.0F));
  };
}

constexpr std::int64_t kRows = 64;
constexpr std::int64_t kColumns = 1024;
constexpr std::int64_t kWarpChain = kColumns / 32 + 5;

// Rows with mean `skew` and deviation 1.
Values skewed(double skew) {
  Values x = normal(Dtype::f32, kRows * kColumns, Tensor::a).values;
  for (double& value : x) value = round_to(Dtype::f32, value + skew);
  return x;
}

Comparison layer_norm(double skew, const Statistics& statistics, std::int64_t chain,
                      float epsilon = 1e-5F) {
  const Values x = skewed(skew);
  const Values gamma = normal(Dtype::f32, kColumns, Tensor::b).values;
  const Values beta = normal(Dtype::f32, kColumns, Tensor::c).values;
  const NormOracle oracle = layer_norm_oracle(x, kRows, kColumns, gamma, beta, 1e-5F);
  Values actual, tolerance;
  for (std::size_t i = 0; i < x.size(); i += kColumns) {
    const Row row(x.begin() + static_cast<std::ptrdiff_t>(i),
                  x.begin() + static_cast<std::ptrdiff_t>(i + kColumns));
    const auto moments = statistics(row);
    const float scale = 1 / std::sqrt(moments.second + epsilon);
    for (std::size_t c = 0; c < kColumns; ++c) {
      actual.push_back((row[c] - moments.first) * scale * static_cast<float>(gamma[c]) +
                       static_cast<float>(beta[c]));
      tolerance.push_back(layer_norm_f32_tolerance(oracle.value[i + c], oracle.normalized[i + c],
                                                   oracle.skew[i + c], oracle.spread[i + c],
                                                   oracle.gamma[i + c], oracle.beta[i + c], chain));
    }
  }
  return judge(Dtype::f32, actual, oracle.value, tolerance);
}

TEST(RowsTolerance, layer_norm_separates_centred_variances_from_differences_of_squares) {
  for (const double skew : {0.0, 10.0, 100.0}) {
    for (const Comparison& legal :
         {layer_norm(skew, two_pass(sequential), kColumns),
          layer_norm(skew, two_pass(by_warp), kWarpChain), layer_norm(skew, welford, kColumns)}) {
      EXPECT_TRUE(legal.passed()) << skew << legal.text();
      EXPECT_LT(legal.max_error, 0.9);
    }
  }
  EXPECT_FALSE(layer_norm(100, one_pass(sequential), kColumns).passed());
  EXPECT_FALSE(layer_norm(100, one_pass(by_warp), kWarpChain).passed());
  EXPECT_FALSE(layer_norm(0, two_pass(by_warp), kWarpChain, 0).passed()) << "epsilon left out";
  EXPECT_FALSE(layer_norm(0, two_pass([](const Row& x) {
                            Row all_but_one(x.begin(), x.end() - 1);
                            return by_warp(all_but_one);
                          }),
                          kWarpChain)
                   .passed());
}

TEST(RowsTolerance, rms_norm_separates_f32_from_half_sums_and_a_lost_epsilon) {
  const Values x = skewed(0);
  constexpr float kEpsilon = 1e-5F;
  const NormOracle oracle = rms_norm_oracle(x, kRows, kColumns, {}, kEpsilon);
  const auto judged = [&](Sum sum, std::int64_t chain, float epsilon) {
    Values actual, tolerance;
    for (std::size_t i = 0; i < x.size(); i += kColumns) {
      Row squares;
      for (std::size_t c = 0; c < kColumns; ++c)
        squares.push_back(static_cast<float>(x[i + c]) * static_cast<float>(x[i + c]));
      const float scale = 1 / std::sqrt(sum(squares) / kColumns + epsilon);
      for (std::size_t c = 0; c < kColumns; ++c) {
        actual.push_back(static_cast<float>(x[i + c]) * scale);
        tolerance.push_back(rms_norm_f32_tolerance(oracle.value[i + c], chain));
      }
    }
    return judge(Dtype::f32, actual, oracle.value, tolerance);
  };
  EXPECT_TRUE(judged(sequential, kColumns, kEpsilon).passed());
  EXPECT_TRUE(judged(by_warp, kWarpChain, kEpsilon).passed());
  EXPECT_FALSE(judged(by_warp, kWarpChain, 0).passed());
  const Sum half = [](const Row& row) {
    double sum = 0;
    for (const float value : row) sum = round_to(Dtype::f16, sum + value);
    return static_cast<float>(sum);
  };
  EXPECT_FALSE(judged(half, kColumns, kEpsilon).passed());
}

TEST(RowsTolerance, means_and_log_softmax_separate_f32_from_half_sums) {
  const Values x = skewed(0);
  const MeanOracle means = row_means_oracle(x, kRows, kColumns);
  const LogSoftmaxOracle log = log_softmax_oracle(x, kRows, kColumns);
  const auto accepted = [&](const std::function<double(double)>& store) {
    Values mean, mean_bound, logs, log_bound;
    for (std::size_t i = 0; i < x.size(); i += kColumns) {
      double sum = 0;
      double exponentials = 0;
      const auto most = static_cast<float>(
          *std::max_element(x.begin() + static_cast<std::ptrdiff_t>(i),
                            x.begin() + static_cast<std::ptrdiff_t>(i + kColumns)));
      for (std::size_t c = 0; c < kColumns; ++c) {
        const auto value = static_cast<float>(x[i + c]);
        sum = store(sum + value);
        exponentials = store(exponentials + std::exp(value - most));
      }
      const std::size_t r = i / kColumns;
      mean.push_back(static_cast<float>(sum) / kColumns);
      mean_bound.push_back(
          mean_f32_tolerance(means.value[r], means.norm2[r], means.mean_abs[r], kColumns, 1));
      for (std::size_t c = i; c < i + kColumns; ++c) {
        logs.push_back((static_cast<float>(x[c]) - most) -
                       std::log(static_cast<float>(exponentials)));
        log_bound.push_back(
            log_softmax_f32_tolerance(log.value[c], log.distance[c], log.log_sum[c], kColumns));
      }
    }
    return std::pair(judge(Dtype::f32, mean, means.value, mean_bound).passed(),
                     judge(Dtype::f32, logs, log.value, log_bound).passed());
  };
  const auto f32 = [](double sum) { return static_cast<double>(static_cast<float>(sum)); };
  const auto f16 = [](double sum) { return round_to(Dtype::f16, sum); };
  EXPECT_EQ(accepted(f32), std::pair(true, true));
  EXPECT_EQ(accepted(f16), std::pair(false, false));
}

} // namespace
} // namespace kg::test
