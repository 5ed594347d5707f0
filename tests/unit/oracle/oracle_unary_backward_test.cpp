// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Slopes of activations: the oracle against differences of the forward oracle, which it shares no
// derivative with, and bounds between legal f32 arithmetic and arithmetic that is not.
#include "tests/oracle/oracle_unary.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_unary_backward.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
constexpr std::array kAll = {activation::Function::relu,      activation::Function::sigmoid,
                             activation::Function::tanh,      activation::Function::gelu,
                             activation::Function::gelu_tanh, activation::Function::silu};

double at(activation::Function op, double x) { return unary_oracle(op, Values{x})[0]; }
double slope_at(activation::Function op, double x) { return unary_slope_oracle(op, Values{x})[0]; }

// The central difference of fourth order: (8 (f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) / 12 h. Its
// error is h^4 f''''' / 30, and 2^-53 f / h by rounding.
TEST(UnarySlopeOracle, is_the_limit_of_differences) {
  constexpr double kStep = 1e-3;
  for (const activation::Function op : kAll)
    for (double x = -12.015; x < 12; x += 0.31) { // no point is within 2 steps of relu's corner
      const double near = at(op, x + kStep) - at(op, x - kStep);
      const double far = at(op, x + 2 * kStep) - at(op, x - 2 * kStep);
      EXPECT_NEAR(slope_at(op, x), (8 * near - far) / (12 * kStep), 2e-11)
          << static_cast<int>(op) << " at " << x;
    }
}

// The slopes add up to the rise of the function: Simpson's rule, whose error is h^4 / 2880 of the
// fourth derivative times the length.
TEST(UnarySlopeOracle, adds_up_to_the_rise) {
  constexpr int kSteps = 4000;
  constexpr double kFrom = -9, kTo = 7;
  constexpr double kWidth = (kTo - kFrom) / kSteps;
  for (const activation::Function op : kAll) {
    double sum = 0;
    for (int i = 0; i < kSteps; ++i) {
      const double x = kFrom + i * kWidth;
      sum += slope_at(op, x) + 4 * slope_at(op, x + kWidth / 2) + slope_at(op, x + kWidth);
    }
    // relu's corner costs one step of Simpson's rule.
    EXPECT_NEAR(sum * kWidth / 6, at(op, kTo) - at(op, kFrom),
                op == activation::Function::relu ? kWidth : 1e-11)
        << static_cast<int>(op);
  }
}

TEST(UnarySlopeOracle, known_answers_and_tails) {
  EXPECT_EQ(slope_at(activation::Function::sigmoid, 0), 0.25);
  EXPECT_EQ(slope_at(activation::Function::tanh, 0), 1);
  for (const activation::Function op :
       {activation::Function::silu, activation::Function::gelu, activation::Function::gelu_tanh})
    EXPECT_EQ(slope_at(op, 0), 0.5);
  EXPECT_DOUBLE_EQ(slope_at(activation::Function::tanh, std::log(2)), 0.64); // 1 - 0.6^2
  for (const double x : {100.0, -100.0}) {
    EXPECT_DOUBLE_EQ(slope_at(activation::Function::sigmoid, x), std::exp(-100));
    EXPECT_DOUBLE_EQ(slope_at(activation::Function::tanh, x), 4 * std::exp(-200));
  }
  EXPECT_DOUBLE_EQ(slope_at(activation::Function::silu, -100), -99 * std::exp(-100));
  // Phi + x phi, with Phi = phi / |x| (1 - 1/x^2 + 3/x^4 ...)
  const double density = std::exp(-200) / std::sqrt(2 * 3.14159265358979323846);
  EXPECT_NEAR(slope_at(activation::Function::gelu, -20) / density, -20 + (1 - 1.0 / 400) / 20,
              1e-5);
}

TEST(UnarySlopeOracle, special_values) {
  for (const activation::Function op : kAll) {
    EXPECT_TRUE(std::isnan(slope_at(op, std::nan(""))));
    EXPECT_EQ(slope_at(op, kInfinity),
              op == activation::Function::sigmoid || op == activation::Function::tanh ? 0 : 1);
    EXPECT_EQ(slope_at(op, -kInfinity), 0);
  }
  EXPECT_EQ(slope_at(activation::Function::relu, 0), 0);
}

TEST(UnaryBackwardOracle, multiplies_and_relu_selects) {
  const Values x = {1, -1, 0, -kInfinity}, dy = {-3, 5, kInfinity, kInfinity};
  EXPECT_EQ(unary_backward_oracle(activation::Function::relu, x, dy), (Values{-3, 0, 0, 0}));
  const Values dx = unary_backward_oracle(activation::Function::silu, x, dy);
  EXPECT_DOUBLE_EQ(dx[0], -3 * slope_at(activation::Function::silu, 1));
  EXPECT_EQ(dx[2], kInfinity);
  EXPECT_TRUE(std::isnan(dx[3])); // infinity times 0
  EXPECT_TRUE(std::isnan(
      unary_backward_oracle(activation::Function::relu, Values{std::nan("")}, Values{1})[0]));
  EXPECT_THROW(unary_backward_oracle(activation::Function::relu, x, Values{1}), Error);
}

TEST(UnaryBackwardTolerance, is_what_its_formula_says) {
  constexpr double kTiny = 0x1p-149;
  // f' = 1/4, once.
  expect_bound(Dtype::f32, 0.5,
               unary_backward_f32_tolerance(activation::Function::sigmoid, 0, 2, 0.5),
               2 * (2.5 * kU32 + 10 * kTiny) + kTiny);
  // The gate 1/2, and nothing of its slope.
  expect_bound(Dtype::f32, -1.5,
               unary_backward_f32_tolerance(activation::Function::silu, 0, -3, -1.5),
               3 * (10 * kU32 + 2.5 * kTiny) + kTiny);
  // Phi(1) + 1 phi(1), and three times x^2 / 2 roundings of the exponent.
  const double gate = 0.8413447460685429, product = 0.24197072451914337;
  expect_bound(Dtype::f32, gate + product,
               unary_backward_f32_tolerance(activation::Function::gelu, 1, 1, gate + product),
               kU32 * (20 * (gate + product) + 1.5 * product) + 6 * kTiny);
  expect_bound(
      Dtype::f32, gate + product,
      unary_backward_f32_tolerance(activation::Function::gelu, 1, 1, gate + product, Dtype::f16),
      kU32 * (20 * (gate + product) + 1.5 * product) + 5.2e-6 * (gate + product) + 6 * kTiny);
  expect_bound(Dtype::f16, 0.5,
               unary_backward_tolerances(activation::Function::sigmoid, Dtype::f16, Values{0},
                                         Values{2}, Values{0.5})[0],
               0.51 * 0x1p-11 + 2 * (2.5 * kU32 + 10 * kTiny) + kTiny);
  EXPECT_EQ(unary_backward_tolerances(activation::Function::relu, Dtype::f16, Values{3}, Values{3},
                                      Values{3})[0],
            0);
  // Far to the left nothing is left to lose, however large the factors.
  for (const activation::Function op : kAll)
    EXPECT_LE(unary_backward_f32_tolerance(op, -1e30, 1e30, 0), kTiny) << static_cast<int>(op);
  for (const activation::Function op : kAll)
    for (const double special : {kInfinity, -kInfinity, std::nan("")}) {
      EXPECT_EQ(unary_backward_f32_tolerance(op, special, 1, 1), 0);
      EXPECT_EQ(unary_backward_f32_tolerance(op, 1, special, special), 0);
    }
}

TEST(UnaryBackwardTolerance, error_unit_is_one_rounding_of_result_and_terms) {
  EXPECT_EQ(unary_backward_error_units(activation::Function::sigmoid, Dtype::f16, Values{0},
                                       Values{2}, Values{0.5})[0],
            0.5 * 0x1p-11 + 0.5 * kU32 + 0x1p-25);
}

// Near the zero of gelu's slope, where its two terms of 0.226 cancel, the unit is what they are
// right to: kernels take the short form for 16 bits, and the long one for f32.
TEST(UnaryBackwardTolerance, error_unit_of_short_gelu_is_what_its_terms_are_right_to) {
  const Values x{-0.751953125}, dy{1};
  const Values dx = unary_backward_oracle(activation::Function::gelu, x, dy);
  const double terms = slope_condition(activation::Function::gelu, x[0]);
  ASSERT_LT(std::fabs(dx[0]), 1e-4);
  ASSERT_NEAR(terms, 2 * 0.226, 1e-3);
  EXPECT_DOUBLE_EQ(unary_backward_error_units(activation::Function::gelu, Dtype::f16, x, dy, dx)[0],
                   0x1p-11 * std::fabs(dx[0]) + (kU32 + 5.2e-6) * terms + 0x1p-25);
  EXPECT_LT(unary_backward_error_units(activation::Function::gelu, Dtype::f32, x, dy, dx)[0],
            1.01 * kU32 * terms);
}

using F32Function = float (*)(float);

Comparison judged(activation::Function op, F32Function slope) {
  Values x = outliers(Dtype::f32, 20000, 3, 16, Tensor::a).values;
  for (int i = -1040; i <= 1040; ++i) x.push_back(round_to(Dtype::f32, i / 10.0));
  const Values dy =
      outliers(Dtype::f32, static_cast<std::int64_t>(x.size()), 5, 64, Tensor::b).values;
  const Values expected = unary_backward_oracle(op, x, dy);
  Values actual;
  for (std::size_t i = 0; i < x.size(); ++i)
    actual.push_back(static_cast<float>(dy[i]) * slope(static_cast<float>(x[i])));
  return judge(Dtype::f32, actual, expected,
               unary_backward_tolerances(op, Dtype::f32, x, dy, expected));
}

float sigmoid(float x) {
  const float e = std::exp(-std::fabs(x));
  return (x >= 0 ? 1.0F : e) / (1.0F + e);
}
float sigmoid_slope(float x) {
  const float e = std::exp(-std::fabs(x));
  return e / ((1 + e) * (1 + e));
}
float phi(float x) { return 0.39894228F * std::exp(-0.5F * x * x); }
float gelu_argument(float x) { return 1.59576912F * (x + 0.044715F * x * x * x); }
float gelu_argument_slope(float x) { return 1.59576912F * (1 + 0.134145F * x * x); }

TEST(UnaryBackwardTolerance, accepts_f32_forms) {
  const auto expect_legal = [](activation::Function op, F32Function slope) {
    const Comparison legal = judged(op, slope);
    EXPECT_TRUE(legal.passed()) << static_cast<int>(op) << legal.text();
  };
  expect_legal(activation::Function::relu, [](float x) { return x > 0 ? 1.0F : 0.0F; });
  expect_legal(activation::Function::sigmoid, sigmoid_slope);
  expect_legal(activation::Function::sigmoid, [](float x) { return sigmoid(x) * sigmoid(-x); });
  expect_legal(activation::Function::tanh, [](float x) { return 4 * sigmoid_slope(2 * x); });
  expect_legal(activation::Function::silu,
               [](float x) { return sigmoid(x) + x * sigmoid_slope(x); });
  expect_legal(activation::Function::gelu,
               [](float x) { return 0.5F * std::erfc(x * -0.70710678F) + x * phi(x); });
  expect_legal(activation::Function::gelu_tanh, [](float x) {
    const float z = gelu_argument(x);
    return sigmoid(z) + x * gelu_argument_slope(x) * sigmoid_slope(z);
  });
}

TEST(UnaryBackwardTolerance, rejects_cancellation_and_wrong_slopes) {
  const auto rejects = [](activation::Function op, F32Function slope) {
    return !judged(op, slope).passed();
  };
  EXPECT_TRUE(rejects(activation::Function::sigmoid,
                      [](float x) { return sigmoid(x) * (1 - sigmoid(x)); }));
  EXPECT_TRUE(
      rejects(activation::Function::tanh, [](float x) { return 1 - std::tanh(x) * std::tanh(x); }));
  EXPECT_TRUE(rejects(activation::Function::gelu,
                      [](float x) { return 0.5F * (1 + std::erf(x * 0.70710678F)) + x * phi(x); }));
  EXPECT_TRUE(rejects(activation::Function::gelu_tanh, [](float x) { // the other formula's
    return static_cast<float>(slope_at(activation::Function::gelu, x));
  }));
  EXPECT_TRUE(rejects(activation::Function::silu, [](float x) { return sigmoid(x); }));
  EXPECT_TRUE(rejects(activation::Function::relu, [](float x) { return x > -1 ? 1.0F : 0.0F; }));
}

} // namespace
} // namespace kg::test
