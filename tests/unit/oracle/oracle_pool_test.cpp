// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_pool.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance_rows.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

// 1 2 3
// 4 5 6
// 7 8 9
Values nine() {
  Values x(9);
  std::iota(x.begin(), x.end(), 1.0);
  return x;
}

TEST(PoolOracle, windows_with_stride_and_padding) {
  const Values x = nine();
  const Pooling plain{
      .planes = 1, .height = 3, .width = 3, .vertical = {.kernel = 2}, .horizontal = {.kernel = 2}};
  EXPECT_EQ(max_pool_oracle(plain, x).value, (Values{5, 6, 8, 9}));
  EXPECT_EQ(average_pool_oracle(plain, x).value, (Values{3, 4, 6, 7}));
  Pooling padded = plain;
  padded.vertical = padded.horizontal = {.kernel = 2, .stride = 2, .before = 1, .after = 1};
  EXPECT_EQ(padded.out_height(), 2);
  EXPECT_EQ(max_pool_oracle(padded, x).value, (Values{1, 3, 7, 9}));
  EXPECT_EQ(average_pool_oracle(padded, x).value, (Values{1, 2.5, 5.5, 7}));
  padded.count_padding = true;
  EXPECT_EQ(average_pool_oracle(padded, x).value, (Values{0.25, 1.25, 2.75, 7}));
  padded.horizontal.before = 0;
  EXPECT_EQ(average_pool_oracle(padded, x).value, (Values{0.75, 0.75, 6, 3.75}));
}

TEST(PoolOracle, dilation) {
  Pooling apart{.planes = 1,
                .height = 3,
                .width = 3,
                .vertical = {.kernel = 2, .dilation = 2},
                .horizontal = {.kernel = 2, .before = 1, .dilation = 2}};
  EXPECT_EQ(max_pool_oracle(apart, nine()).value, (Values{8, 9}));
  EXPECT_EQ(average_pool_oracle(apart, nine()).value, (Values{5, 5}));
}

// PyTorch's examples of the rule: the additional window, and the one that would begin in the
// padding behind.
TEST(PoolOracle, ceil_mode) {
  const auto outputs = [](std::int64_t in, PoolAxis axis, bool ceil_mode) {
    return Pooling{.planes = 1, .height = in, .width = 1, .vertical = axis, .ceil_mode = ceil_mode}
        .out_height();
  };
  EXPECT_EQ(outputs(112, {.kernel = 3, .stride = 2}, false), 55);
  EXPECT_EQ(outputs(112, {.kernel = 3, .stride = 2}, true), 56);
  EXPECT_EQ(outputs(111, {.kernel = 3, .stride = 2}, true), 55); // nothing remains
  EXPECT_EQ(outputs(4, {.kernel = 2, .stride = 3, .before = 1, .after = 1}, true), 2);
  EXPECT_EQ(outputs(5, {.kernel = 2, .stride = 3, .before = 1, .after = 1}, true), 2);
  EXPECT_EQ(outputs(3, {.kernel = 4, .stride = 2}, false), 0);
  EXPECT_EQ(outputs(3, {.kernel = 4, .stride = 2}, true), 1); // larger than the input
  EXPECT_EQ(outputs(3, {.kernel = 5, .stride = 2}, true), 0);
  // The last window of three has two elements and no padding that was declared.
  const Pooling four{.planes = 1,
                     .height = 1,
                     .width = 4,
                     .horizontal = {.kernel = 3, .stride = 2},
                     .ceil_mode = true,
                     .count_padding = true};
  EXPECT_EQ(average_pool_oracle(four, Values{1, 2, 3, 5}).value, (Values{2, 4}));
}

TEST(PoolOracle, negative_data_nan_and_planes) {
  const Pooling pooling{
      .planes = 2, .height = 1, .width = 2, .horizontal = {.kernel = 2, .before = 1, .after = 1}};
  const Values most = max_pool_oracle(pooling, Values{-3, -4, std::nan(""), 7}).value;
  EXPECT_EQ((Values{most.begin(), most.begin() + 3}), (Values{-3, -3, -4}));
  EXPECT_TRUE(std::isnan(most[3]) && std::isnan(most[4]));
  EXPECT_EQ(most[5], 7);
  EXPECT_EQ(average_pool_oracle(pooling, Values{-3, -4, 1, 7}).mean_abs[1], 3.5);
  EXPECT_THROW(max_pool_oracle(pooling, Values{1}), Error);
}

TEST(PoolOracle, windows_of_padding_alone) {
  Pooling pooling{
      .planes = 1, .height = 1, .width = 1, .horizontal = {.kernel = 1, .before = 1, .after = 1}};
  EXPECT_EQ(max_pool_oracle(pooling, Values{3}).value, (Values{-kInfinity, 3, -kInfinity}));
  EXPECT_EQ(average_pool_oracle(pooling, Values{3}).value, (Values{0, 3, 0}));
  pooling.count_padding = true;
  EXPECT_EQ(average_pool_oracle(pooling, Values{3}).value, (Values{0, 3, 0}));
  EXPECT_EQ(max_pool_gradient_oracle(pooling, Values{3}, Values{5, 7, 9}).value, Values{7});
}

TEST(PoolOracle, gradient_goes_to_the_first_maximum) {
  const Pooling row{.planes = 1, .height = 1, .width = 4, .horizontal = {.kernel = 3}};
  const PoolGradient ties = max_pool_gradient_oracle(row, Values{1, 2, 2, 0}, Values{10, -100});
  EXPECT_EQ(ties.value, (Values{0, -90, 0, 0}));
  EXPECT_EQ(ties.sum_abs, (Values{0, 110, 0, 0}));
  EXPECT_EQ(ties.terms, (std::vector<std::int64_t>{0, 2, 0, 0}));
  const double nan = std::nan("");
  EXPECT_EQ(max_pool_gradient_oracle(row, Values{1, nan, nan, 5}, Values{1, 2}).value,
            (Values{0, 3, 0, 0}));
  const double least = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(max_pool_gradient_oracle(row, Values{least, least, least, least}, Values{1, 2}).value,
            (Values{1, 2, 0, 0}));
}

TEST(PoolOracle, gradient_of_averages) {
  Pooling row{
      .planes = 1, .height = 1, .width = 3, .horizontal = {.kernel = 2, .before = 1, .after = 0}};
  EXPECT_EQ(average_pool_gradient_oracle(row, Values{1, 2, 4}).value, (Values{2, 3, 2}));
  row.count_padding = true;
  EXPECT_EQ(average_pool_gradient_oracle(row, Values{1, 2, 4}).value, (Values{1.5, 3, 2}));
  EXPECT_THROW(average_pool_gradient_oracle(row, Values{1, 2}), Error);
}

// <dy, P x> = <P^T dy, x>: the average is linear, so its gradient is the transpose; the maximum is
// linear near an x without ties. And each window hands on all of its dy, or, with counted padding,
// less.
TEST(PoolOracle, gradients_are_adjoint_and_keep_the_sum) {
  for (const bool count_padding : {false, true}) {
    const Pooling pooling{.planes = 3,
                          .height = 9,
                          .width = 11,
                          .vertical = {.kernel = 3, .stride = 2, .before = 1, .after = 1},
                          .horizontal = {.kernel = 2, .stride = 1, .after = 2, .dilation = 3},
                          .ceil_mode = true,
                          .count_padding = count_padding};
    const Values x = normal(Dtype::f32, 3 * 9 * 11, Tensor::a).values;
    const std::int64_t outputs = 3 * pooling.out_height() * pooling.out_width();
    const Values dy = normal(Dtype::f32, outputs, Tensor::b).values;
    const auto dot = [](const Values& a, const Values& b) {
      return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    const auto sum = [](const Values& a) { return std::accumulate(a.begin(), a.end(), 0.0); };
    const Values average = average_pool_gradient_oracle(pooling, dy).value;
    const Values most = max_pool_gradient_oracle(pooling, x, dy).value;
    EXPECT_NEAR(dot(dy, average_pool_oracle(pooling, x).value), dot(average, x), 1e-12);
    EXPECT_NEAR(dot(dy, max_pool_oracle(pooling, x).value), dot(most, x), 1e-12);
    EXPECT_NEAR(sum(most), sum(dy), 1e-12);
    EXPECT_EQ(std::fabs(sum(average) - sum(dy)) < 1e-12, !count_padding);
  }
}

TEST(PoolTolerance, of_gradients_by_hand) {
  expect_bound(Dtype::f32, 1, pool_gradient_f32_tolerance(4, 3), 5 * kU32 * 3 + 4 * 0x1p-150);
  EXPECT_EQ(pool_gradient_f32_tolerance(0, 0), 0);
}

TEST(PoolTolerance, separates_f32_from_half_sums_and_a_wrong_divisor) {
  const Pooling pooling{.planes = 3,
                        .height = 20,
                        .width = 21,
                        .vertical = {.kernel = 3, .before = 1, .after = 1},
                        .horizontal = {.kernel = 3, .before = 1, .after = 1}};
  const Values x = normal(Dtype::f32, 3 * 20 * 21, Tensor::a).values;
  const PoolOracle oracle = average_pool_oracle(pooling, x);
  Values tolerance;
  for (const double mean_abs : oracle.mean_abs)
    tolerance.push_back(average_pool_f32_tolerance(9, mean_abs));
  const auto accepted = [&](double (*store)(double), bool count_padding) {
    Values actual;
    for (std::int64_t plane = 0; plane < 3; ++plane)
      for (std::int64_t i = 0; i < 20; ++i)
        for (std::int64_t j = 0; j < 21; ++j) {
          double sum = 0;
          int inside = 0;
          for (std::int64_t row = i - 1; row <= i + 1; ++row)
            for (std::int64_t column = j - 1; column <= j + 1; ++column) {
              if (row < 0 || row >= 20 || column < 0 || column >= 21) continue;
              sum = store(sum + x[static_cast<std::size_t>((plane * 20 + row) * 21 + column)]);
              ++inside;
            }
          actual.push_back(static_cast<float>(sum) /
                           static_cast<float>(count_padding ? 9 : inside));
        }
    return judge(Dtype::f32, actual, oracle.value, tolerance).passed();
  };
  const auto f32 = [](double sum) { return static_cast<double>(static_cast<float>(sum)); };
  const auto f16 = [](double sum) { return round_to(Dtype::f16, sum); };
  EXPECT_TRUE(accepted(f32, false));
  EXPECT_FALSE(accepted(f16, false));
  EXPECT_FALSE(accepted(f32, true));
}

} // namespace
} // namespace kg::test
