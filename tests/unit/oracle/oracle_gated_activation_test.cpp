// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_gated_activation.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/oracle/fills.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
constexpr activation::Function kGates[] = {activation::Function::silu, activation::Function::gelu,
                                           activation::Function::relu};

TEST(OracleGatedActivation, rows_are_gates_and_then_values) {
  const Values x = {1, 2, 3, 10, 20, 30, 4, 5, 6, 40, 50, 60};
  const Halves<double> halves = halves_of(x, 3);
  EXPECT_EQ(halves.gate, (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(halves.value, (Values{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(side_by_side(halves, 3), x);
}

TEST(OracleGatedActivation, multiplies_and_knows_both_gradients) {
  const Halves<double> x{{2, -2}, {5, 7}};
  EXPECT_EQ(gated_oracle(activation::Function::relu, x), (Values{10, 0}));
  const Halves<double> dx = gated_gradients_oracle(activation::Function::relu, x, Values{3, 3});
  EXPECT_EQ(dx.gate, (Values{15, 0}));
  EXPECT_EQ(dx.value, (Values{6, 0}));
}

TEST(OracleGatedActivation, products_beyond_f32_are_infinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double largest = std::numeric_limits<float>::max();
  for (const activation::Function op : kGates) {
    EXPECT_EQ(gated_oracle(op, {{largest}, {-2}})[0], -infinity);
    EXPECT_EQ(gated_gradients_oracle(op, {{300}, {2}}, Values{largest}).gate[0], infinity);
    EXPECT_EQ(gated_gradients_oracle(op, {{300}, {0}}, Values{largest}).value[0], infinity);
  }
}

TEST(OracleGatedActivation, an_activation_that_underflows_makes_nan_of_infinity) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(gated_oracle(activation::Function::silu, {{0x1p-149}, {infinity}})[0]));
  EXPECT_EQ(gated_oracle(activation::Function::silu, {{0x1p-148}, {infinity}})[0], infinity);
}

// (f(x + h) - f(x - h)) / 2 h is off by h^2 f''' / 6, and by the roundings of f over h.
TEST(OracleGatedActivation, gradients_are_differences) {
  constexpr double kStep = 1e-4;
  const Values gate = normal(Dtype::f32, 500, Tensor::a).values;
  const Values value = normal(Dtype::f32, 500, Tensor::b).values;
  for (const activation::Function op : {activation::Function::silu, activation::Function::gelu}) {
    const Halves<double> dx = gated_gradients_oracle(op, {gate, value}, Values(gate.size(), 1.0));
    for (std::size_t i = 0; i < gate.size(); ++i) {
      const auto y = [&](double g, double v) { return gated_oracle(op, {{g}, {v}})[0]; };
      EXPECT_NEAR(dx.gate[i],
                  (y(gate[i] + kStep, value[i]) - y(gate[i] - kStep, value[i])) / 2 / kStep, 1e-7);
      EXPECT_NEAR(dx.value[i],
                  (y(gate[i], value[i] + kStep) - y(gate[i], value[i] - kStep)) / 2 / kStep, 1e-7);
    }
  }
}

// The bounds reach as far as an activation, or a product, that was rounded to f32, and not to f16.
TEST(OracleGatedActivation, bounds_cover_one_rounding) {
  const Halves<double> x{normal(Dtype::f16, 20000, Tensor::a).values,
                         normal(Dtype::f16, 20000, Tensor::b).values};
  const Values dy = normal(Dtype::f16, 20000, Tensor::c).values;
  const auto within = [](const Values& actual, const Values& expected, const Values& bounds) {
    for (std::size_t i = 0; i < actual.size(); ++i)
      if (!(std::fabs(actual[i] - expected[i]) <= bounds[i])) return false;
    return true;
  };
  for (const activation::Function op : {activation::Function::silu, activation::Function::gelu}) {
    const Values act = unary_oracle(op, x.gate);
    const Values slope = unary_slope_oracle(op, x.gate);
    const Values y = gated_oracle(op, x);
    const Halves<double> dx = gated_gradients_oracle(op, x, dy);
    const Values bounds = gated_tolerances(op, Dtype::f32, x, y);
    const Halves<double> dx_bounds = gated_gradient_tolerances(op, Dtype::f32, x, dy, dx);
    for (const Dtype dtype : {Dtype::f32, Dtype::f16}) {
      Values rounded;
      Halves<double> gradients;
      for (std::size_t i = 0; i < act.size(); ++i) {
        rounded.push_back(round_to(dtype, act[i]) * x.value[i]);
        gradients.gate.push_back(round_to(dtype, dy[i] * x.value[i]) * slope[i]);
        gradients.value.push_back(round_to(dtype, act[i]) * dy[i]);
      }
      const bool covered = dtype == Dtype::f32;
      EXPECT_EQ(within(rounded, y, bounds), covered);
      EXPECT_EQ(within(gradients.gate, dx.gate, dx_bounds.gate), covered);
      EXPECT_EQ(within(gradients.value, dx.value, dx_bounds.value), covered);
    }
    EXPECT_TRUE(within(y, y, library_gated_tolerances(op, Dtype::f16, x, y)));
  }
}

} // namespace
} // namespace kg::test
