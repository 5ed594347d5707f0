// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_elementwise.h"

#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/random.h"

namespace kg::test {
namespace {

void expect_same(double actual, double expected, const char* what) {
  if (std::isnan(expected)) {
    ASSERT_TRUE(std::isnan(actual)) << what;
  } else {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(actual), std::bit_cast<std::uint64_t>(expected)) << what;
  }
}

// The C library's fmaf rounds once. Sums that cancel, subnormals and special values included.
TEST(OracleElementwise, fused_multiply_add_agrees_with_the_library) {
  const Random random(seed(), 21);
  const auto any = [&](std::uint64_t i) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(random.integer(i, 0, 0xFFFFFFFF)));
  };
  int fused_differs = 0;
  for (std::uint64_t i = 0; i < 300000; ++i) {
    const float a = i % 3 == 0 ? any(3 * i) : static_cast<float>(random.normal(3 * i));
    const float b = i % 3 == 0 ? any(3 * i + 1) : static_cast<float>(random.normal(3 * i + 1));
    const float product = a * b;
    const float near = static_cast<float>(-product * (1 + random.normal(3 * i + 2) * 0x1p-22));
    const float c = i % 3 == 1 ? near : any(3 * i + 2);
    const float expected = std::fmaf(a, b, c);
    expect_same(fused_multiply_add_f32(a, b, c), expected, "fused");
    const volatile float rounded = product;
    if (rounded + c != expected && !std::isnan(expected)) ++fused_differs;
  }
  EXPECT_GT(fused_differs, 50000);
}

TEST(OracleElementwise, fused_multiply_add_of_special_values) {
  const BitPairs pairs = special_pairs(Dtype::f32);
  for (const SpecialValue& special : special_values(Dtype::f32)) {
    const auto alpha = static_cast<float>(decode(Dtype::f32, special.bits));
    for (std::size_t i = 0; i < pairs.a.size(); ++i) {
      const auto x = static_cast<float>(decode(Dtype::f32, pairs.a[i]));
      const auto y = static_cast<float>(decode(Dtype::f32, pairs.b[i]));
      expect_same(fused_multiply_add_f32(alpha, x, y), std::fmaf(alpha, x, y),
                  special.name.c_str());
    }
  }
}

// 1 + 2^-11 is halfway between neighbours of f16; what f32 loses decides which is nearest.
TEST(OracleElementwise, axpy_rounds_to_f32_before_f16) {
  const std::vector<double> x = {0x1p-11};
  const std::vector<double> y = {1};
  const auto alpha = static_cast<float>(1 + 0x1p-20); // 1 + 2^-11 + 2^-31: 1 + 2^-11 in f32
  EXPECT_EQ(axpy_oracle(Dtype::f16, alpha, x, y)[0], 1);
  EXPECT_EQ(axpy_oracle(Dtype::f32, alpha, x, y)[0], 1 + 0x1p-11);
}

TEST(OracleElementwise, unfused_axpy_is_within_its_tolerance) {
  constexpr std::int64_t kN = 50000;
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    const std::vector<double> x = normal(dtype, kN, Tensor::a).values;
    const std::vector<double> y = normal(dtype, kN, Tensor::b).values;
    const float alpha = 0.7F;
    const std::vector<double> expected = axpy_oracle(dtype, alpha, x, y);
    const std::vector<double> tolerance = unfused_axpy_tolerance(dtype, alpha, x, expected);
    int differs = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const volatile float product = alpha * static_cast<float>(x[i]);
      const double unfused = round_to(dtype, product + static_cast<float>(y[i]));
      ASSERT_LE(std::fabs(unfused - expected[i]), tolerance[i]) << i;
      if (unfused != expected[i]) ++differs;
    }
    EXPECT_GT(differs, 0) << name(dtype);
  }
}

TEST(OracleElementwise, repeats_as_numpy_does) {
  using Values = std::vector<double>;
  using Shape = std::vector<std::int64_t>;
  const Shape full = {2, 3};
  EXPECT_EQ(repeated_oracle(Values{1, 2, 3}, Shape{3}, full), (Values{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(repeated_oracle(Values{1, 2}, Shape{2, 1}, full), (Values{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(repeated_oracle(Values{5}, Shape{}, full), (Values{5, 5, 5, 5, 5, 5}));
  EXPECT_EQ(repeated_oracle(Values{1, 2, 3, 4}, Shape{2, 1, 2}, Shape{2, 2, 2}),
            (Values{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(repeated_oracle(Values{}, Shape{0, 1}, Shape{0, 4}), Values{});
}

TEST(OracleElementwise, sums_of_i32_wrap_around) {
  using Values = std::vector<double>;
  const Values a = {2147483647, -2147483648, -2147483648, -3};
  const Values b = {1, -1, -2147483648, 5};
  EXPECT_EQ(elementwise_oracle(elementwise::Op::add, Dtype::i32, a, b),
            (Values{-2147483648, 2147483647, 0, 2}));
  EXPECT_THROW(elementwise_oracle(elementwise::Op::sub, Dtype::i32, a, b), Error);
}

// The nearest number: what a sum lost (Knuth's exact difference) is at most half an ulp.
TEST(OracleElementwise, sums_of_f64_are_rounded_once) {
  const std::vector<double> a = normal(Dtype::f64, 5000, Tensor::a).values;
  const std::vector<double> b = normal(Dtype::f64, 5000, Tensor::b).values;
  const std::vector<double> sum = elementwise_oracle(elementwise::Op::add, Dtype::f64, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double other = sum[i] - a[i];
    const double lost = (a[i] - (sum[i] - other)) + (b[i] - other);
    ASSERT_LE(std::fabs(lost), ulp(Dtype::f64, sum[i]) / 2) << i;
  }
  EXPECT_THROW(elementwise_oracle(elementwise::Op::mul, Dtype::f64, a, b), Error);
}

// Against difference quotients of a b and a / b themselves, in fp64.
TEST(OracleElementwise, gradients_are_slopes) {
  constexpr std::int64_t kN = 2000;
  constexpr double kStep = 0x1p-20;
  const std::vector<double> dy = normal(Dtype::f32, kN, Tensor::a).values;
  const std::vector<double> a = normal(Dtype::f32, kN, Tensor::b).values;
  const std::vector<double> b = positive(Dtype::f32, kN, Tensor::c).values;
  const auto product = [](double x, double y) { return x * y; };
  const auto quotient = [](double x, double y) { return x / y; };
  const auto expect_slopes = [&](elementwise::Op op, auto function) {
    const BinaryGradients gradients = binary_gradients_oracle(op, Dtype::f32, dy, a, b);
    for (std::size_t i = 0; i < dy.size(); ++i) {
      const double u = kStep * a[i];
      const double v = kStep * b[i];
      const double by_a = (function(a[i] + u, b[i]) - function(a[i] - u, b[i])) / (2 * u);
      const double by_b = (function(a[i], b[i] + v) - function(a[i], b[i] - v)) / (2 * v);
      ASSERT_NEAR(gradients.da[i], dy[i] * by_a, 1e-6 * std::fabs(dy[i] * by_a)) << i;
      ASSERT_NEAR(gradients.db[i], dy[i] * by_b, 1e-6 * std::fabs(dy[i] * by_b)) << i;
    }
  };
  expect_slopes(elementwise::Op::mul, product);
  expect_slopes(elementwise::Op::div, quotient);
  EXPECT_THROW(binary_gradients_oracle(elementwise::Op::add, Dtype::f32, dy, a, b), Error);
}

} // namespace
} // namespace kg::test
