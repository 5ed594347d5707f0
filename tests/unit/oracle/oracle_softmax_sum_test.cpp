// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_softmax_sum.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

TEST(OracleSoftmaxSum, weighs_the_tensors) {
  // e^0 : e^ln(3) = 1 : 3
  const SoftmaxSumOracle oracle =
      softmax_sum_oracle(Dtype::f32, Values{8, 16, 24, 4, 0, -8}, Values{0, std::log(3)});
  const Values expected = {5, 4, 0};
  ASSERT_EQ(oracle.value.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(oracle.value[i], expected[i], 1e-14);
}

TEST(OracleSoftmaxSum, weights_of_special_values) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(softmax_weights(Values{-infinity, 2, -infinity}), (Values{0, 1, 0}));
  EXPECT_EQ(softmax_weights(Values{-1e4, 0}), (Values{0, 1}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Values& alpha : {Values{infinity, 0}, Values{nan, 0}, Values{-infinity, -infinity}})
    for (const double weight : softmax_weights(alpha)) EXPECT_TRUE(std::isnan(weight));
}

// The same in f32, in order, is within the bound; with weights of 11 bits it is not.
TEST(OracleSoftmaxSum, bound_holds_f32_and_not_f16) {
  constexpr std::size_t kTerms = 8;
  constexpr std::size_t kN = 2000;
  const Values x = normal(Dtype::f32, kTerms * kN, Tensor::a).values;
  const Values alpha = normal(Dtype::f32, kTerms, Tensor::b).values;
  const SoftmaxSumOracle oracle = softmax_sum_oracle(Dtype::f32, x, alpha);
  const Values weights = softmax_weights(alpha);
  const auto largest_share = [&](Dtype of_weights) {
    double most = 0;
    for (std::size_t i = 0; i < kN; ++i) {
      float sum = 0;
      for (std::size_t k = 0; k < kTerms; ++k)
        sum += static_cast<float>(round_to(of_weights, weights[k])) *
               static_cast<float>(x[k * kN + i]);
      most = std::max(most, std::fabs(sum - oracle.value[i]) / oracle.tolerance[i]);
    }
    return most;
  };
  EXPECT_LE(largest_share(Dtype::f32), 1);
  EXPECT_GT(largest_share(Dtype::f16), 1);
}

} // namespace
} // namespace kg::test
