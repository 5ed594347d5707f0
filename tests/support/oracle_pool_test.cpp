// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_pool.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/support/bounds_check.h"
#include "tests/support/fills.h"
#include "tests/support/tolerance_rows.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

TEST(PoolOracle, windows_with_stride_and_padding) {
  // 1 2 3
  // 4 5 6
  // 7 8 9
  Values x(9);
  std::iota(x.begin(), x.end(), 1.0);
  const Pooling plain{.planes = 1, .height = 3, .width = 3, .kernel_height = 2, .kernel_width = 2};
  EXPECT_EQ(max_pool_oracle(plain, x).value, (Values{5, 6, 8, 9}));
  EXPECT_EQ(average_pool_oracle(plain, x).value, (Values{3, 4, 6, 7}));
  Pooling padded = plain;
  padded.stride_height = padded.stride_width = 2;
  padded.pad_height = padded.pad_width = 1;
  EXPECT_EQ(padded.out_height(), 2);
  EXPECT_EQ(max_pool_oracle(padded, x).value, (Values{1, 3, 7, 9}));
  EXPECT_EQ(average_pool_oracle(padded, x).value, (Values{1, 2.5, 5.5, 7}));
  padded.count_padding = true;
  EXPECT_EQ(average_pool_oracle(padded, x).value, (Values{0.25, 1.25, 2.75, 7}));
}

TEST(PoolOracle, negative_data_nan_and_planes) {
  const Pooling pooling{
      .planes = 2, .height = 1, .width = 2, .kernel_height = 1, .kernel_width = 2, .pad_width = 1};
  const Values most = max_pool_oracle(pooling, Values{-3, -4, std::nan(""), 7}).value;
  EXPECT_EQ((Values{most.begin(), most.begin() + 3}), (Values{-3, -3, -4}));
  EXPECT_TRUE(std::isnan(most[3]) && std::isnan(most[4]));
  EXPECT_EQ(most[5], 7);
  EXPECT_EQ(average_pool_oracle(pooling, Values{-3, -4, 1, 7}).mean_abs[1], 3.5);
  EXPECT_THROW(max_pool_oracle(pooling, Values{1}), Error);
  Pooling all_padding = pooling;
  all_padding.pad_width = 2;
  EXPECT_THROW(max_pool_oracle(all_padding, Values{1, 2, 3, 4}), Error);
}

TEST(PoolTolerance, separates_f32_from_half_sums_and_a_wrong_divisor) {
  const Pooling pooling{.planes = 3,
                        .height = 20,
                        .width = 21,
                        .kernel_height = 3,
                        .kernel_width = 3,
                        .pad_height = 1,
                        .pad_width = 1};
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
