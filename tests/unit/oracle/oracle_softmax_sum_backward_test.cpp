// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_softmax_sum_backward.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

TEST(OracleSoftmaxSumBackward, weighs_dy_and_differentiates_the_weights) {
  // Weights 1/4 and 3/4; sums 8 + 2 4 = 16 and 4; their mean 7.
  const auto gradients = softmax_sum_gradients_oracle(Dtype::f32, Values{8, 4, 4, 0},
                                                      Values{0, std::log(3)}, Values{1, 2});
  const Values dx = {0.25, 0.5, 0.75, 1.5};
  const Values dalpha = {9.0 / 4, -9.0 / 4};
  for (std::size_t i = 0; i < dx.size(); ++i) EXPECT_NEAR(gradients.dx[i], dx[i], 1e-15);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(gradients.dalpha[k], dalpha[k], 1e-14);
}

TEST(OracleSoftmaxSumBackward, nothing_has_no_gradient) {
  const auto gradients = softmax_sum_gradients_oracle(Dtype::f32, {}, Values{1, 2}, {});
  EXPECT_TRUE(gradients.dx.empty());
  EXPECT_EQ(gradients.dalpha, (Values{0, 0}));
}

// (L(alpha + h) - L(alpha - h)) / 2 h of L = sum of y dy.
TEST(OracleSoftmaxSumBackward, dalpha_is_a_difference) {
  constexpr double kStep = 1e-5;
  constexpr std::size_t kTerms = 5;
  constexpr std::size_t kN = 200;
  const Values x = normal(Dtype::f32, kTerms * kN, Tensor::a).values;
  const Values alpha = normal(Dtype::f32, kTerms, Tensor::b).values;
  const Values dy = normal(Dtype::f32, kN, Tensor::c).values;
  const auto gradients = softmax_sum_gradients_oracle(Dtype::f32, x, alpha, dy);
  for (std::size_t k = 0; k < kTerms; ++k) {
    const auto loss = [&](double step) {
      Values moved = alpha;
      moved[k] += step;
      const Values y = softmax_sum_oracle(Dtype::f32, x, moved).value;
      double sum = 0;
      for (std::size_t i = 0; i < kN; ++i) sum += y[i] * dy[i];
      return sum;
    };
    EXPECT_NEAR(gradients.dalpha[k], (loss(kStep) - loss(-kStep)) / 2 / kStep, 1e-7);
  }
}

// The same in f32, in order, is within the bounds; with weights of 11 bits it is not.
TEST(OracleSoftmaxSumBackward, bounds_hold_f32_and_not_f16) {
  constexpr std::size_t kTerms = 6;
  constexpr std::size_t kN = 100;
  const Values x = normal(Dtype::f32, kTerms * kN, Tensor::a).values;
  const Values alpha = normal(Dtype::f32, kTerms, Tensor::b).values;
  const Values dy = normal(Dtype::f32, kN, Tensor::c).values;
  const auto right = softmax_sum_gradients_oracle(Dtype::f32, x, alpha, dy);
  for (const Dtype of_weights : {Dtype::f32, Dtype::f16}) {
    std::vector<float> weights, sums;
    for (const double weight : softmax_weights(alpha))
      weights.push_back(static_cast<float>(round_to(of_weights, weight)));
    bool dx_within = true, dalpha_within = true;
    float mean = 0;
    for (std::size_t k = 0; k < kTerms; ++k) {
      float sum = 0;
      for (std::size_t i = 0; i < kN; ++i) {
        const auto gradient = static_cast<float>(dy[i]);
        const float dx = weights[k] * gradient;
        dx_within &= std::fabs(dx - right.dx[k * kN + i]) <= right.dx_tolerance[k * kN + i];
        sum += gradient * static_cast<float>(x[k * kN + i]);
      }
      sums.push_back(sum);
      mean += weights[k] * sum;
    }
    for (std::size_t k = 0; k < kTerms; ++k)
      dalpha_within &=
          std::fabs(weights[k] * (sums[k] - mean) - right.dalpha[k]) <= right.dalpha_tolerance[k];
    EXPECT_EQ(dx_within, of_weights == Dtype::f32);
    EXPECT_EQ(dalpha_within, of_weights == Dtype::f32);
  }
}

} // namespace
} // namespace kg::test
