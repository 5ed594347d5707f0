// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gelu(x + bias) in fp64, and its tolerances.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/tolerance_unary.h"

namespace kg::test {

// x, rows of bias.size() elements, plus the bias; infinite if the f32 sum is. The rounding of fp64,
// 2^-53, is invisible in all bounds below.
inline std::vector<double> bias_sums(std::span<const double> x, std::span<const double> bias) {
  std::vector<double> sums;
  sums.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double sum = x[i] + bias[i % bias.size()];
    const double rounded = round_to(Dtype::f32, sum);
    sums.push_back(std::isfinite(rounded) ? sum : rounded);
  }
  return sums;
}

// The change of y = z gate(z) caused by a relative error of `error` in the argument z: error |y|
// through the factor, error z^2 gate'(z) through the gate.
inline double argument_tolerance(activation::Function gelu, double z, double y, double error) {
  return std::isfinite(y) ? error * (std::fabs(y) + argument_condition(gelu, z)) : 0;
}

// For our kernels: the bound of the gelu for an argument rounded to f32, by u. `sums` are
// bias_sums, y = unary_oracle of them.
inline std::vector<double> bias_gelu_tolerances(activation::Function gelu, Dtype output,
                                                std::span<const double> sums,
                                                std::span<const double> y) {
  std::vector<double> bounds = unary_tolerances(gelu, output, sums, y);
  for (std::size_t i = 0; i < sums.size(); ++i)
    bounds[i] += argument_tolerance(gelu, sums[i], y[i], unit_roundoff(Dtype::f32));
  return bounds;
}

// For a library, which may store the sum in `output` before the gelu: adds half the smallest
// subnormal, for sums that are subnormal.
inline std::vector<double> library_bias_gelu_tolerances(activation::Function gelu, Dtype output,
                                                        std::span<const double> sums,
                                                        std::span<const double> y) {
  std::vector<double> bounds = library_tolerances(gelu, output, sums, y);
  const double error = unit_roundoff(Dtype::f32) + unit_roundoff(output);
  for (std::size_t i = 0; i < sums.size(); ++i)
    bounds[i] += argument_tolerance(gelu, sums[i], y[i], error) + half_min_subnormal(output);
  return bounds;
}

} // namespace kg::test
