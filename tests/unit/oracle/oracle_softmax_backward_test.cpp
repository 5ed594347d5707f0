// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of softmax: the oracles' known answers, and bounds between legal f32 arithmetic and the
// usual mistakes.
#include "tests/oracle/oracle_softmax_backward.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/tolerance_softmax.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

TEST(SoftmaxBackwardOracle, known_answers) {
  const auto plain = softmax_backward_oracle(Values{0.5, 0.25, 0.25}, Values{4, 8, -4}, 1, 3);
  EXPECT_EQ(plain.value, (Values{0.5, 1.25, -1.75})); // the sum is 3
  EXPECT_EQ(plain.weight, (Values{0.5, 0.25, 0.25}));
  EXPECT_EQ(plain.sum_abs, (Values{5, 5, 5}));
  const auto log = log_softmax_backward_oracle(Values{0, -kInfinity}, Values{3, -5}, 1, 2);
  EXPECT_EQ(log.value, (Values{5, -5}));
  EXPECT_EQ(log.sum_abs, (Values{8, 8}));
  const auto infinite = softmax_backward_oracle(Values{0.5, 0.5}, Values{kInfinity, 1}, 1, 2);
  EXPECT_TRUE(std::isnan(infinite.value[0]));
  EXPECT_EQ(infinite.value[1], -kInfinity);
  EXPECT_TRUE(softmax_backward_oracle({}, {}, 3, 0).value.empty());
  EXPECT_THROW(softmax_backward_oracle(Values{1}, {}, 1, 1), Error);
}

// The derivative by differences of the forward oracles: <dx, v> is the slope of <dy, softmax(x)>.
TEST(SoftmaxBackwardOracle, is_the_slope_of_the_forward_oracle) {
  constexpr double kStep = 1e-5;
  const Values x = normal(Dtype::f32, 20, Tensor::a).values;
  const Values dy = normal(Dtype::f32, 20, Tensor::b).values;
  const Values direction = normal(Dtype::f32, 20, Tensor::c).values;
  const auto moved = [&](double step) {
    Values result = x;
    for (std::size_t i = 0; i < x.size(); ++i) result[i] += step * direction[i];
    return result;
  };
  const auto dot = [](const Values& a, const Values& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  using Forward = std::function<Values(const Values&)>;
  const Forward plain = [](const Values& at) { return softmax_oracle(at, 1, 20).value; };
  const Forward log = [](const Values& at) { return log_softmax_oracle(at, 1, 20).value; };
  for (const bool is_log : {false, true}) {
    const Forward& forward = is_log ? log : plain;
    const auto backward = is_log ? log_softmax_backward_oracle : softmax_backward_oracle;
    const double slope =
        (dot(dy, forward(moved(kStep))) - dot(dy, forward(moved(-kStep)))) / (2 * kStep);
    EXPECT_NEAR(dot(backward(forward(x), dy, 1, 20).value, direction), slope, 1e-8);
  }
}

TEST(SoftmaxTolerance, is_what_its_formula_says) {
  constexpr double kTiny = 2.5 * 0x1p-149;
  expect_bound(Dtype::f32, 0.5, softmax_backward_f32_tolerance(0.5, 0.25, 8, 16),
               kU32 * (14 * 2 + 1) + kTiny * 9);
  expect_bound(Dtype::f32, -3, log_softmax_backward_f32_tolerance(-3, 0.25, 8, 16),
               kU32 * (19 * 2 + 6) + kTiny * 9);
  const LogSoftmaxOracle log = log_softmax_oracle(Values{0, 1, -kInfinity}, 1, 3);
  const Values bounds = log_softmax_tolerances(log, Dtype::f16, 3);
  EXPECT_EQ(bounds[0],
            stored_tolerance(Dtype::f16, log.value[0],
                             log_softmax_f32_tolerance(log.value[0], 1, log.log_sum[0], 3)));
  EXPECT_EQ(bounds[2], 0);
  const auto infinite = softmax_backward_oracle(Values{0.5, 0.5}, Values{kInfinity, 1}, 1, 2);
  EXPECT_EQ(softmax_backward_tolerances(infinite, Dtype::f32, 2, softmax_backward_f32_tolerance),
            (Values{0, 0}));
}

// One after the other in f32, against sums in half precision and rows that miss their last term.
TEST(SoftmaxTolerance, gradients_separate_f32_from_half_sums_and_lost_terms) {
  constexpr std::int64_t kRows = 32;
  constexpr std::int64_t kColumns = 1024;
  const Values x = normal(Dtype::f32, kRows * kColumns, Tensor::a).values;
  const Values dy = normal(Dtype::f32, kRows * kColumns, Tensor::b).values;
  Values y = softmax_oracle(x, kRows, kColumns).value;
  Values logs = log_softmax_oracle(x, kRows, kColumns).value;
  for (double& value : y) value = round_to(Dtype::f32, value);
  for (double& value : logs) value = round_to(Dtype::f32, value);
  const auto judged = [&](bool is_log, Dtype sums, std::size_t lost) {
    const auto oracle = is_log ? log_softmax_backward_oracle(logs, dy, kRows, kColumns)
                               : softmax_backward_oracle(y, dy, kRows, kColumns);
    Values actual;
    for (std::size_t first = 0; first < x.size(); first += kColumns) {
      double sum = 0;
      for (std::size_t i = first; i < first + kColumns - lost; ++i) {
        const auto gradient = static_cast<float>(dy[i]);
        sum = round_to(sums, sum + (is_log ? gradient : static_cast<float>(y[i]) * gradient));
      }
      const auto total = static_cast<float>(sum);
      for (std::size_t i = first; i < first + kColumns; ++i) {
        const auto gradient = static_cast<float>(dy[i]);
        actual.push_back(is_log ? gradient - std::exp(static_cast<float>(logs[i])) * total
                                : static_cast<float>(y[i]) * (gradient - total));
      }
    }
    return judge(Dtype::f32, actual, oracle.value,
                 softmax_backward_tolerances(oracle, Dtype::f32, kColumns,
                                             is_log ? log_softmax_backward_f32_tolerance
                                                    : softmax_backward_f32_tolerance));
  };
  for (const bool is_log : {false, true}) {
    EXPECT_TRUE(judged(is_log, Dtype::f32, 0).passed()) << judged(is_log, Dtype::f32, 0).text();
    EXPECT_FALSE(judged(is_log, Dtype::f16, 0).passed()) << is_log;
    EXPECT_FALSE(judged(is_log, Dtype::f32, 1).passed()) << is_log;
  }
}

} // namespace
} // namespace kg::test
