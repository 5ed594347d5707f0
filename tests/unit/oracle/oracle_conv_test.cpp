// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_conv.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"

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

Convolution one_plane(PoolAxis vertical, PoolAxis horizontal) {
  return {1, 1, 3, 3, 1, vertical, horizontal};
}

TEST(ConvolutionOracle, filters_are_not_turned) {
  const Convolution c = one_plane({.kernel = 2}, {.kernel = 2});
  EXPECT_EQ(convolution_oracle(c, nine(), Values{1, 10, 100, 1000}, {}).value,
            (Values{5421, 6532, 8754, 9865}));
  EXPECT_EQ(convolution_oracle(c, nine(), Values{1, 0, 0, -1}, Values{0.5}).value,
            (Values{-3.5, -3.5, -3.5, -3.5}));
  EXPECT_EQ(convolution_oracle(c, nine(), Values{1, 0, 0, -1}, Values{-0.5}).condition,
            (Values{6.5, 8.5, 12.5, 14.5}));
}

TEST(ConvolutionOracle, stride_padding_and_dilation) {
  const Convolution padded =
      one_plane({.kernel = 2, .stride = 2, .before = 1}, {.kernel = 1, .stride = 2, .after = 2});
  EXPECT_EQ(padded.out_height(), 2);
  EXPECT_EQ(padded.out_width(), 3);
  EXPECT_EQ(convolution_oracle(padded, nine(), Values{1, 10}, {}).value,
            (Values{10, 30, 0, 74, 96, 0}));
  const Convolution apart = one_plane({.kernel = 2, .dilation = 2}, {.kernel = 1});
  EXPECT_EQ(convolution_oracle(apart, nine(), Values{1, 10}, {}).value, (Values{71, 82, 93}));
}

TEST(ConvolutionOracle, channels_groups_and_images) {
  const Convolution all{2, 2, 1, 1, 3};
  const Values x{1, 2, 3, 4};
  const Values weights{1, 10, 100, 1000, -1, -10};
  EXPECT_EQ(convolution_oracle(all, x, weights, Values{0, 0, 5}).value,
            (Values{21, 2100, -16, 43, 4300, -38}));
  const Convolution apart{2, 2, 1, 1, 4, {}, {}, 2};
  EXPECT_EQ(apart.depth(), 1);
  EXPECT_EQ(convolution_oracle(apart, x, Values{1, 10, 100, 1000}, {}).value,
            (Values{1, 10, 200, 2000, 3, 30, 400, 4000}));
}

// A convolution of one place per image is a product of matrices, and one by a kernel of one element
// is one, too.
TEST(ConvolutionOracle, is_a_product_of_matrices) {
  const Convolution whole{5, 6, 3, 4, 7, {.kernel = 3}, {.kernel = 4}};
  const Values x = normal(Dtype::f32, 5 * 72, Tensor::a).values;
  const Values weights = normal(Dtype::f32, 7 * 72, Tensor::b).values;
  const auto expected = gemm_oracle(
      {contiguous({5, 72}), transposed(contiguous({7, 72})), contiguous({5, 7})}, x, weights, {});
  const ConvolutionOracle result = convolution_oracle(whole, x, weights, {});
  ASSERT_EQ(result.value.size(), expected.value.size());
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    EXPECT_NEAR(result.value[i], expected.value[i], 1e-12 * expected.condition[i]);
    EXPECT_NEAR(result.condition[i], expected.condition[i], 1e-12 * expected.condition[i]);
  }
}

TEST(ConvolutionOracle, special_values_stay_in_their_windows) {
  const Convolution row{1, 1, 1, 4, 1, {}, {.kernel = 2, .before = 1, .after = 1}};
  const double nan = std::nan("");
  const auto result = convolution_oracle(row, Values{1, nan, 2, 3}, Values{1, 1}, {});
  EXPECT_EQ(result.value[0], 1);
  EXPECT_TRUE(std::isnan(result.value[1]) && std::isnan(result.value[2]));
  EXPECT_EQ(result.value[3], 5);
  EXPECT_EQ(convolution_tolerances(Dtype::f16, row, result)[1], 0);
}

TEST(ConvolutionOracle, tolerances_are_those_of_gemm) {
  const Convolution row{1, 1, 1, 4, 1, {}, {.kernel = 3}};
  const ConvolutionOracle oracle{{0.5, 8}, {2, 16}};
  const Values f32 = convolution_tolerances(Dtype::f32, row, oracle);
  EXPECT_EQ(f32, (Values{gemm_f32_tolerance(3, 2), gemm_f32_tolerance(3, 16)}));
  EXPECT_EQ(convolution_tolerances(Dtype::bf16, row, oracle)[1],
            gemm_xf16_tolerance(Dtype::bf16, 8, 3, 16));
}

double dot(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(ConvolutionGradients, are_sums_of_products) {
  const Convolution c = one_plane({.kernel = 2}, {.kernel = 2});
  const auto g = convolution_gradients(c, nine(), Values{1, 10, 100, 1000}, Values{1, 0, 0, -2});
  EXPECT_EQ(g.x.value, (Values{1, 10, 0, 100, 998, -20, 0, -200, -2000}));
  EXPECT_EQ(g.x.condition, (Values{1, 10, 0, 100, 1002, 20, 0, 200, 2000}));
  EXPECT_EQ(g.weights.value, (Values{-9, -10, -12, -13}));
  EXPECT_EQ(g.weights.condition, (Values{11, 14, 20, 23}));
  EXPECT_EQ(g.bias.value, (Values{-1}));
  EXPECT_EQ(g.bias.condition, (Values{3}));
}

// y is linear in x and in the weights: <dy, y(v)> = <dx, v> whatever v is, of integers exactly.
TEST(ConvolutionGradients, are_adjoint_to_the_oracle) {
  const Convolution c{2,
                      4,
                      5,
                      6,
                      6,
                      {.kernel = 2, .stride = 2, .before = 1, .after = 2, .dilation = 2},
                      {.kernel = 3, .before = 1},
                      2};
  const auto some = [](std::int64_t count, Tensor tensor) {
    return integers(Dtype::f32, count, 9, tensor).values;
  };
  const Values x = some(2 * 4 * 5 * 6, Tensor::a);
  const Values weights = some(6 * c.depth(), Tensor::b);
  const Values other_x = some(2 * 4 * 5 * 6, Tensor::c);
  const Values other_weights = some(6 * c.depth(), Tensor::a);
  const Values bias{1, -2, 3, -4, 5, -6};
  const Values dy = some(2 * 6 * c.out_height() * c.out_width(), Tensor::b);
  const auto g = convolution_gradients(c, x, weights, dy);
  EXPECT_EQ(dot(g.x.value, other_x), dot(dy, convolution_oracle(c, other_x, weights, {}).value));
  EXPECT_EQ(dot(g.weights.value, other_weights),
            dot(dy, convolution_oracle(c, x, other_weights, {}).value));
  const Values nothing(weights.size());
  EXPECT_EQ(dot(g.bias.value, bias), dot(dy, convolution_oracle(c, x, nothing, bias).value));
}

TEST(ConvolutionOracle, refuses_what_does_not_fit) {
  const Convolution c = one_plane({.kernel = 2}, {.kernel = 2});
  EXPECT_THROW(convolution_oracle(c, Values(8), Values(4), {}), Error);
  EXPECT_THROW(convolution_oracle(c, nine(), Values(3), {}), Error);
  EXPECT_THROW(convolution_oracle(c, nine(), Values(4), Values(2)), Error);
  EXPECT_THROW(convolution_oracle({1, 3, 1, 1, 3, {}, {}, 2}, Values(3), Values(3), {}), Error);
  EXPECT_THROW(convolution_gradients(c, nine(), Values(4), Values(3)), Error);
}

} // namespace
} // namespace kg::test
