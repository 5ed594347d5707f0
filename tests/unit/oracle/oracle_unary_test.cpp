// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations: the oracle's known answers, and bounds between arithmetic that is legal in f32 and
// arithmetic that is not.
#include "tests/oracle/oracle_unary.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_unary.h"
#include "tests/support/bounds_check.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
constexpr std::array kAll = {activation::Function::relu, activation::Function::sigmoid,
                             activation::Function::silu, activation::Function::tanh,
                             activation::Function::gelu, activation::Function::gelu_tanh};

double at(activation::Function op, double x) { return unary_oracle(op, Values{x})[0]; }

TEST(UnaryOracle, known_answers) {
  EXPECT_EQ(at(activation::Function::relu, -3), 0);
  EXPECT_EQ(at(activation::Function::relu, 2.5), 2.5);
  EXPECT_DOUBLE_EQ(at(activation::Function::sigmoid, std::log(3)), 0.75);
  EXPECT_DOUBLE_EQ(at(activation::Function::sigmoid, -std::log(3)), 0.25);
  EXPECT_DOUBLE_EQ(at(activation::Function::silu, -std::log(3)), -std::log(3) / 4);
  EXPECT_DOUBLE_EQ(at(activation::Function::tanh, std::log(2)), 0.6);
  // Phi(1) and Phi(-1), Abramowitz and Stegun, table 26.1.
  EXPECT_NEAR(at(activation::Function::gelu, 1), 0.841344746068543, 1e-15);
  EXPECT_NEAR(at(activation::Function::gelu, -1), -0.158655253931457, 1e-15);
  EXPECT_NEAR(at(activation::Function::gelu_tanh, 1), 0.8411920, 1e-7);
  for (const double x : {-8.0, -2.0, -0.1, 0.3, 1.0, 4.0}) // the approximation is one
    EXPECT_NEAR(at(activation::Function::gelu_tanh, x), at(activation::Function::gelu, x), 5e-4)
        << x;
}

TEST(UnaryOracle, tails_keep_their_relative_accuracy) {
  EXPECT_DOUBLE_EQ(at(activation::Function::sigmoid, -100), std::exp(-100));
  EXPECT_DOUBLE_EQ(at(activation::Function::silu, -100), -100 * std::exp(-100));
  // -x Phi(x) / phi(x) -> 1 from below: 1 - 1/x^2 + ...
  const double density = std::exp(-200) / std::sqrt(2 * 3.14159265358979323846);
  EXPECT_NEAR(-at(activation::Function::gelu, -20) / density, 1 - 1.0 / 400, 1e-4);
}

TEST(UnaryOracle, special_values) {
  for (const activation::Function op : kAll) {
    EXPECT_TRUE(std::isnan(at(op, std::nan(""))));
    EXPECT_EQ(at(op, kInfinity),
              op == activation::Function::sigmoid || op == activation::Function::tanh ? 1
                                                                                      : kInfinity);
    EXPECT_EQ(at(op, -kInfinity), op == activation::Function::tanh ? -1 : 0);
    EXPECT_EQ(at(op, 0), op == activation::Function::sigmoid ? 0.5 : 0);
  }
}

// Relations that tie the functions to each other, whatever formula each is computed by.
TEST(UnaryOracle, identities) {
  for (const double x : {0.0, 1e-30, 0.01, 0.5, 1.0, 2.75, 6.0, 20.0}) {
    EXPECT_DOUBLE_EQ(at(activation::Function::sigmoid, x) + at(activation::Function::sigmoid, -x),
                     1);
    EXPECT_NEAR(2 * at(activation::Function::sigmoid, 2 * x) - 1, at(activation::Function::tanh, x),
                1e-15);
    for (const activation::Function op :
         {activation::Function::silu, activation::Function::gelu, activation::Function::gelu_tanh})
      EXPECT_DOUBLE_EQ(at(op, x) - at(op, -x), x); // gate(x) + gate(-x) = 1
  }
}

TEST(UnaryOracle, gate_slope_is_that_of_its_value) {
  constexpr double kStep = 1e-4;
  for (const activation::Function op :
       {activation::Function::silu, activation::Function::gelu, activation::Function::gelu_tanh}) {
    for (double x = -6; x <= 6; x += 0.37) {
      const double rise = gate_oracle(op, x + kStep).value - gate_oracle(op, x - kStep).value;
      EXPECT_NEAR(gate_oracle(op, x).slope, rise / (2 * kStep), 1e-8) << x;
    }
    EXPECT_EQ(gate_oracle(op, kInfinity).slope, 0);
    EXPECT_EQ(gate_oracle(op, -kInfinity).slope, 0);
  }
  EXPECT_THROW(gate_oracle(activation::Function::tanh, 1), Error);
}

TEST(UnaryTolerance, is_what_its_formula_says) {
  constexpr double kTiny = 0x1p-149;
  expect_bound(Dtype::f32, 0.75, unary_f32_tolerance(activation::Function::sigmoid, 1, 0.75),
               6 * kU32 + 3 * kTiny);
  expect_bound(Dtype::f32, -0.5, unary_f32_tolerance(activation::Function::silu, -3, -0.5),
               4 * kU32 + 8 * kTiny);
  // The density of the normal distribution at 3, and the slope of gelu_tanh's gate there.
  expect_bound(Dtype::f32, -0.01, unary_f32_tolerance(activation::Function::gelu, -3, -0.01),
               (0.12 + 1.5 * 9 * 0.0044318484119380075) * kU32 + 8 * kTiny);
  expect_bound(Dtype::f32, -0.01,
               unary_f32_tolerance(activation::Function::gelu, -3, -0.01, Dtype::bf16),
               (0.12 + 1.5 * 9 * 0.0044318484119380075) * kU32 + 5.2e-8 + 8 * kTiny);
  expect_bound(Dtype::f32, 4, unary_f32_tolerance(activation::Function::gelu_tanh, 3, 4),
               (32 + 4 * 9 * 0.0042655435527424665) * kU32 + 8 * kTiny);
  expect_bound(Dtype::f32, -0.01, gelu_cancelling_tolerance(-3, -0.01), 12 * kU32 + kTiny);
  expect_bound(Dtype::f16, 0.75,
               unary_tolerances(activation::Function::tanh, Dtype::f16, Values{1}, Values{0.75})[0],
               0.51 * 0x1p-11 + 6 * kU32 + 3 * kTiny);
  EXPECT_EQ(unary_tolerances(activation::Function::relu, Dtype::f16, Values{3}, Values{3})[0], 0);
  // Far to the left the result is a zero, however large the argument.
  EXPECT_LE(unary_f32_tolerance(activation::Function::silu, -1e30, 0), kTiny);
  for (const activation::Function op : kAll)
    for (const double x : {kInfinity, -kInfinity, std::nan("")})
      EXPECT_EQ(unary_f32_tolerance(op, x, at(op, x)), 0) << x;
}

TEST(UnaryTolerance, error_unit_is_one_rounding_of_result_and_argument) {
  EXPECT_EQ(unary_error_units(activation::Function::tanh, Dtype::f16, Values{1}, Values{0.75})[0],
            0.75 * 0x1p-11 + 0x1p-25);
  EXPECT_NEAR(
      unary_error_units(activation::Function::gelu, Dtype::f32, Values{-3}, Values{-0.01})[0],
      (0.01 + 9 * 0.0044318484119380075) * kU32, 1e-12 * kU32);
}

// Arguments of every size that the activations tell apart.
Values arguments() {
  Values x = outliers(Dtype::f32, 20000, 3, 16, Tensor::a).values;
  for (int i = -1040; i <= 1040; ++i) x.push_back(round_to(Dtype::f32, i / 10.0));
  return x;
}

using F32Function = float (*)(float);

using Bound = double (*)(activation::Function op, double x, double y);
double of_f32(activation::Function op, double x, double y) { return unary_f32_tolerance(op, x, y); }
double of_16_bits(activation::Function op, double x, double y) {
  return unary_f32_tolerance(op, x, y, Dtype::bf16);
}

Comparison judged(activation::Function op, F32Function function, Bound bound = of_f32) {
  const Values x = arguments();
  const Values expected = unary_oracle(op, x);
  Values actual, tolerance;
  for (std::size_t i = 0; i < x.size(); ++i) {
    actual.push_back(function(static_cast<float>(x[i])));
    tolerance.push_back(bound(op, x[i], expected[i]));
  }
  return judge(Dtype::f32, actual, expected, tolerance);
}

float sigmoid_f32(float x) {
  const float e = std::exp(-std::fabs(x));
  return (x >= 0 ? 1.0F : e) / (1.0F + e);
}
// What __expf does: one rounding of x log2(e), then a power of two.
float fast_exp(float x) {
  return static_cast<float>(std::exp2(static_cast<double>(x * 1.442695F)));
}
float coarse(float y) { return y * (1 + 0x1p-11F); } // tanh.approx

float gelu_argument(float x) { return 1.59576912F * (x + 0.044715F * x * x * x); }
float gelu_by_erf(float x) { return 0.5F * x * (1 + std::erf(x * 0.70710678F)); }
float gelu_by_tanh(float x) { return 0.5F * x * (1 + std::tanh(gelu_argument(x) / 2)); }
double cancelling(activation::Function, double x, double y) {
  return gelu_cancelling_tolerance(x, y);
}

TEST(UnaryTolerance, accepts_f32_forms) {
  const auto expect_legal = [](activation::Function op, F32Function function,
                               Bound bound = of_f32) {
    const Comparison legal = judged(op, function, bound);
    EXPECT_TRUE(legal.passed()) << static_cast<int>(op) << legal.text();
  };
  expect_legal(activation::Function::relu, [](float x) { return x < 0 ? 0.0F : x; });
  expect_legal(activation::Function::sigmoid, sigmoid_f32);
  expect_legal(activation::Function::silu, [](float x) { return x * sigmoid_f32(x); });
  expect_legal(activation::Function::tanh, [](float x) { return std::tanh(x); });
  expect_legal(activation::Function::gelu,
               [](float x) { return x * (0.5F * std::erfc(x * -0.70710678F)); });
  expect_legal(activation::Function::gelu_tanh,
               [](float x) { return x * sigmoid_f32(gelu_argument(x)); });
  expect_legal(activation::Function::gelu, gelu_by_erf, cancelling);
  expect_legal(activation::Function::gelu_tanh, gelu_by_tanh, cancelling);
}

TEST(UnaryTolerance, rejects_approximations_and_overflow) {
  const auto rejects = [](activation::Function op, F32Function function, Bound bound = of_f32) {
    return !judged(op, function, bound).passed();
  };
  EXPECT_TRUE(rejects(activation::Function::tanh, [](float x) { return coarse(std::tanh(x)); }));
  EXPECT_TRUE(
      rejects(activation::Function::sigmoid, [](float x) { return coarse(sigmoid_f32(x)); }));
  EXPECT_TRUE(rejects(activation::Function::sigmoid, [](float x) {
    const float e = fast_exp(-std::fabs(x));
    return (x >= 0 ? 1.0F : e) / (1.0F + e);
  }));
  // e^-x overflows where silu is still a normal number.
  EXPECT_TRUE(rejects(activation::Function::silu, [](float x) { return x / (1 + std::exp(-x)); }));
  // Sums that cancel in the left tail.
  EXPECT_TRUE(rejects(activation::Function::gelu, gelu_by_erf));
  EXPECT_TRUE(rejects(activation::Function::gelu_tanh, gelu_by_tanh));
  EXPECT_TRUE(rejects(
      activation::Function::gelu,
      [](float x) { return 0.5F * x * (1 + coarse(std::erf(x * 0.70710678F))); }, cancelling));
  // One formula for the other: 5 10^-4 apart.
  EXPECT_TRUE(rejects(
      activation::Function::gelu,
      [](float x) { return static_cast<float>(at(activation::Function::gelu_tanh, x)); },
      cancelling));
  EXPECT_TRUE(rejects(activation::Function::relu, [](float x) { return std::fabs(x); }));
}

// gelu of results that are stored in 16 bits may err by 5.2 10^-6 more.
TEST(UnaryTolerance, of_16_bits_knows_the_short_gelu) {
  const auto gelu_off_by_5e6 = [](float x) {
    return static_cast<float>(at(activation::Function::gelu, x) * (1 + 5e-6));
  };
  const auto gelu_off_by_8e6 = [](float x) {
    return static_cast<float>(at(activation::Function::gelu, x) * (1 + 8e-6));
  };
  EXPECT_TRUE(judged(activation::Function::gelu, gelu_off_by_5e6, of_16_bits).passed());
  EXPECT_FALSE(judged(activation::Function::gelu, gelu_off_by_5e6).passed());
  EXPECT_FALSE(judged(activation::Function::gelu, gelu_off_by_8e6, of_16_bits).passed());
  EXPECT_FALSE(judged(activation::Function::silu, gelu_off_by_5e6, of_16_bits).passed());
}

TEST(UnaryTolerance, gelu_has_the_sign_of_its_argument) {
  EXPECT_TRUE(gelu_sign(-3, -1e-9));
  EXPECT_TRUE(gelu_sign(-3, 0));
  EXPECT_FALSE(gelu_sign(-3, 1e-9));
}

} // namespace
} // namespace kg::test
