// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_gemm_epilogue.h"

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

TEST(OracleGemmEpilogue, adds_the_bias_of_the_column_and_activates) {
  const Values product{1, -2, 3, -4};
  const Values bias{0.5, -0.5};
  const EpilogueOracle plain = epilogue_oracle({}, product, bias);
  EXPECT_EQ(plain.z, (Values{1.5, -2.5, 3.5, -4.5}));
  EXPECT_EQ(plain.y, plain.z);
  const EpilogueOracle relu = epilogue_oracle(activation::Function::relu, product, bias);
  EXPECT_EQ(relu.z, plain.z);
  EXPECT_EQ(relu.y, (Values{1.5, 0, 3.5, 0}));
  EXPECT_EQ(epilogue_oracle(activation::Function::gelu, product, bias).y,
            unary_oracle(activation::Function::gelu, plain.z));
}

// An error of the product within its bound stays within that of the result; one of 1.5 bounds shows
// where the activation is steep.
TEST(OracleGemmEpilogue, bounds_cover_the_error_of_the_product) {
  constexpr double kError = 1e-4;
  const Values product = normal(Dtype::f32, 5000, Tensor::a).values;
  const Values bias = normal(Dtype::f32, 50, Tensor::b).values;
  for (const activation::Function op :
       {activation::Function::relu, activation::Function::gelu, activation::Function::gelu_tanh}) {
    const EpilogueOracle expected = epilogue_oracle(op, product, bias);
    const EpilogueTolerances bounds =
        epilogue_tolerances(op, Dtype::f32, expected, Values(product.size(), kError));
    const auto outside = [&](double error) {
      std::size_t count = 0;
      Values moved = product;
      for (double& value : moved) value += error;
      const EpilogueOracle actual = epilogue_oracle(op, moved, bias);
      for (std::size_t i = 0; i < moved.size(); ++i)
        count += std::fabs(actual.y[i] - expected.y[i]) > bounds.y[i] ||
                 std::fabs(actual.z[i] - expected.z[i]) > 1.4 * bounds.z[i];
      return count;
    };
    EXPECT_EQ(outside(kError), 0u);
    EXPECT_EQ(outside(-kError), 0u);
    EXPECT_GT(outside(1.5 * kError), product.size() / 4);
  }
}

// The same of a gradient: the slope is what shows of an error of the product.
TEST(OracleGemmEpilogue, bounds_of_gradients_cover_the_error_of_the_product) {
  constexpr double kError = 1e-4;
  const Values product = normal(Dtype::f32, 5000, Tensor::a).values;
  const Values z = normal(Dtype::f32, 5000, Tensor::b).values;
  for (const activation::Function op :
       {activation::Function::relu, activation::Function::gelu, activation::Function::gelu_tanh}) {
    const Values dz = unary_backward_oracle(op, z, product);
    const Values bounds = epilogue_gradient_tolerances(op, Dtype::f32, z, product,
                                                       Values(product.size(), kError), dz);
    const auto outside = [&](double error) {
      std::size_t count = 0;
      Values moved = product;
      for (double& value : moved) value += error;
      const Values actual = unary_backward_oracle(op, z, moved);
      for (std::size_t i = 0; i < moved.size(); ++i)
        count += std::fabs(actual[i] - dz[i]) > bounds[i] * (1 + 0x1p-30); // `moved` is rounded
      return count;
    };
    EXPECT_EQ(outside(kError), 0u);
    EXPECT_EQ(outside(-kError), 0u);
    EXPECT_GT(outside(1.5 * kError), product.size() / 4);
  }
}

TEST(OracleGemmEpilogue, adds_columns) {
  const Values values{1, -2, 3, -4, 5, -6};
  EXPECT_EQ(column_sums(values, 2), (Values{9, -12}));
  EXPECT_EQ(column_sums({}, 2), (Values{0, 0}));
  const Values bounds = column_sum_tolerances(Dtype::f32, values, column_sums(values, 2));
  EXPECT_DOUBLE_EQ(bounds[1] / bounds[0], 12.0 / 9.0);
  EXPECT_LT(bounds[0], 9 * 12 * 0x1p-24);
  // One rounding to the stored type, no more.
  const Values stored = column_sum_tolerances(Dtype::bf16, values, column_sums(values, 2));
  EXPECT_NEAR(stored[0], 0.51 * 0x1p-4, 1e-5);
}

} // namespace
} // namespace kg::test
