// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_bias_gelu.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
constexpr activation::Function kGelus[] = {activation::Function::gelu,
                                           activation::Function::gelu_tanh};

TEST(OracleBiasGelu, repeats_the_bias_along_the_last_axis) {
  EXPECT_EQ(bias_sums(Values{1, 2, 3, 4, 5, 6}, Values{10, 20, 30}),
            (Values{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ(bias_sums(Values{1, 2}, Values{-1}), (Values{0, 1}));
}

TEST(OracleBiasGelu, sums_beyond_f32_are_infinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<float>::max();
  const Values sums = bias_sums(Values{largest, -largest, largest, infinity},
                                Values{largest, -largest, -largest, -infinity});
  EXPECT_EQ(sums[0], infinity);
  EXPECT_EQ(sums[1], -infinity);
  EXPECT_EQ(sums[2], 0);
  EXPECT_TRUE(std::isnan(sums[3]));
}

// Results of a sum that was rounded to `format`, beside those of the sum: whether all are within
// `bounds`.
bool within(activation::Function gelu, const Values& sums, Dtype format, const Values& y,
            const Values& bounds) {
  Values rounded;
  for (const double sum : sums) rounded.push_back(round_to(format, sum));
  const Values moved = unary_oracle(gelu, rounded);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (!(std::fabs(moved[i] - y[i]) <= bounds[i])) return false;
  return true;
}

// The bounds cover the rounding that they claim to, and not the next coarser one.
TEST(OracleBiasGelu, bounds_cover_one_rounding_of_the_sum) {
  const Values x = normal(Dtype::f16, 20000, Tensor::a).values;
  const Values bias = normal(Dtype::f16, 100, Tensor::b).values;
  const Values sums = bias_sums(x, bias);
  for (const activation::Function gelu : kGelus) {
    const Values y = unary_oracle(gelu, sums);
    EXPECT_TRUE(within(gelu, sums, Dtype::f32, y, bias_gelu_tolerances(gelu, Dtype::f32, sums, y)));
    EXPECT_FALSE(
        within(gelu, sums, Dtype::f16, y, bias_gelu_tolerances(gelu, Dtype::f32, sums, y)));
    const Values library = library_bias_gelu_tolerances(gelu, Dtype::f16, sums, y);
    EXPECT_TRUE(within(gelu, sums, Dtype::f16, y, library));
    EXPECT_FALSE(within(gelu, sums, Dtype::bf16, y, library));
  }
}

} // namespace
} // namespace kg::test
