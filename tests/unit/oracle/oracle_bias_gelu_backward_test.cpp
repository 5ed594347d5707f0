// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_bias_gelu_backward.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
constexpr activation::Function kGelus[] = {activation::Function::gelu,
                                           activation::Function::gelu_tanh};

TEST(OracleBiasGeluBackward, dbias_sums_columns) {
  for (const activation::Function gelu : kGelus) { // slopes of 1, 0 and, at 0, one half
    const auto gradients = bias_gelu_gradients_oracle(gelu, Values{90, -90, 0, 90, 90, 0},
                                                      Values{1, 2, 4, 8, 16, 32}, 3);
    EXPECT_EQ(gradients.dx, (Values{1, 0, 2, 8, 16, 16}));
    EXPECT_EQ(gradients.dbias, (Values{9, 16, 18}));
  }
  EXPECT_EQ(bias_gelu_gradients_oracle(activation::Function::gelu, {}, {}, 2).dbias,
            (Values{0, 0}));
}

TEST(OracleBiasGeluBackward, a_nan_stays_in_its_column) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto gradients = bias_gelu_gradients_oracle(activation::Function::gelu,
                                                    Values{nan, 90, 90, 90}, Values{1, 2, 4, 8}, 2);
  EXPECT_TRUE(std::isnan(gradients.dbias[0]));
  EXPECT_EQ(gradients.dbias[1], 10);
}

// The bounds cover an argument that was rounded to f32, and not one that was rounded to f16; of the
// sums as well.
TEST(OracleBiasGeluBackward, bounds_cover_one_rounding_of_the_argument) {
  constexpr std::int64_t kCols = 100;
  const Values sums = bias_sums(normal(Dtype::f16, 20000, Tensor::a).values,
                                normal(Dtype::f16, kCols, Tensor::b).values);
  const Values dy = normal(Dtype::f16, 20000, Tensor::c).values;
  const auto within = [](const Values& actual, const Values& expected, const Values& bounds) {
    for (std::size_t i = 0; i < actual.size(); ++i)
      if (!(std::fabs(actual[i] - expected[i]) <= bounds[i])) return false;
    return true;
  };
  for (const activation::Function gelu : kGelus) {
    const auto right = bias_gelu_gradients_oracle(gelu, sums, dy, kCols);
    const auto bounds = bias_gelu_backward_tolerances(gelu, Dtype::f32, sums, dy, right);
    for (const Dtype dtype : {Dtype::f32, Dtype::f16}) {
      Values rounded;
      for (const double sum : sums) rounded.push_back(round_to(dtype, sum));
      const auto moved = bias_gelu_gradients_oracle(gelu, rounded, dy, kCols);
      EXPECT_EQ(within(moved.dx, right.dx, bounds.dx), dtype == Dtype::f32);
      EXPECT_EQ(within(moved.dbias, right.dbias, bounds.dbias), dtype == Dtype::f32);
    }
  }
}

} // namespace
} // namespace kg::test
