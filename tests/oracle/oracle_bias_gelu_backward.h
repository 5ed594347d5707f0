// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of gelu(x + bias) in fp64, and their tolerances.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_bias_gelu.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_unary_backward.h"

namespace kg::test {

struct BiasGeluGradients {
  std::vector<double> dx, dbias; // per element, per column
};

// `sums` are bias_sums of rows of `cols` elements, with the size of dy.
inline BiasGeluGradients bias_gelu_gradients_oracle(activation::Function gelu,
                                                    std::span<const double> sums,
                                                    std::span<const double> dy, std::int64_t cols) {
  BiasGeluGradients gradients{unary_backward_oracle(gelu, sums, dy), {}};
  gradients.dbias.assign(static_cast<std::size_t>(cols), 0.0);
  for (std::size_t i = 0; i < dy.size(); ++i)
    gradients.dbias[i % gradients.dbias.size()] += gradients.dx[i];
  return gradients;
}

// The change of the derivative for a relative error of `error` in the argument, computed in fp64.
inline double slope_tolerance(activation::Function gelu, double z, double error) {
  if (!std::isfinite(z)) return 0;
  const std::vector<double> slope =
      unary_slope_oracle(gelu, std::vector<double>{z, z * (1 - error), z * (1 + error)});
  return std::max(std::fabs(slope[1] - slope[0]), std::fabs(slope[2] - slope[0]));
}

// One element in f32: the bound of activation_backward for an argument rounded to f32.
inline double bias_gelu_backward_f32_tolerance(activation::Function gelu, Dtype stored, double sum,
                                               double dy, double dx) {
  if (!std::isfinite(sum) || !std::isfinite(dy) || !std::isfinite(dx)) return 0;
  return unary_backward_f32_tolerance(gelu, sum, dy, dx, stored) +
         std::fabs(dy) * slope_tolerance(gelu, sum, unit_roundoff(Dtype::f32));
}

// Bounds of dx, from `errors` of its elements, and of dbias. The errors of a column's terms may all
// have the same sign. Its sum has no longer chain than the rows (gemm_f32_positive_tolerance, of
// the sum of magnitudes).
inline BiasGeluGradients with_column_bounds(Dtype output, std::vector<double> errors,
                                            const BiasGeluGradients& gradients) {
  const std::size_t cols = gradients.dbias.size();
  BiasGeluGradients bounds{std::move(errors), {}};
  std::vector<double> columns(cols, 0.0), magnitudes(cols, 0.0);
  for (std::size_t i = 0; i < bounds.dx.size(); ++i) {
    columns[i % cols] += bounds.dx[i];
    magnitudes[i % cols] += std::fabs(gradients.dx[i]);
  }
  const auto rows = static_cast<std::int64_t>(cols == 0 ? 0 : bounds.dx.size() / cols);
  for (std::size_t c = 0; c < cols; ++c) {
    const double sum = gradients.dbias[c];
    const double error = columns[c] + gemm_f32_positive_tolerance(rows, magnitudes[c]);
    bounds.dbias.push_back(std::isfinite(sum) ? stored_tolerance(output, sum, error) : 0);
  }
  return bounds;
}

// For our kernels: dbias adds dx before dx is rounded to its storage type.
inline BiasGeluGradients bias_gelu_backward_tolerances(activation::Function gelu, Dtype output,
                                                       std::span<const double> sums,
                                                       std::span<const double> dy,
                                                       const BiasGeluGradients& gradients) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < dy.size(); ++i)
    errors.push_back(
        bias_gelu_backward_f32_tolerance(gelu, output, sums[i], dy[i], gradients.dx[i]));
  BiasGeluGradients bounds = with_column_bounds(output, std::move(errors), gradients);
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double dx = gradients.dx[i];
    bounds.dx[i] = std::isfinite(dx) ? stored_tolerance(output, dx, bounds.dx[i]) : 0;
  }
  return bounds;
}

// For a library, which may store the sum with the bias in `output`, and round dx before summing.
inline BiasGeluGradients library_bias_gelu_backward_tolerances(activation::Function gelu,
                                                               Dtype output,
                                                               std::span<const double> sums,
                                                               std::span<const double> dy,
                                                               const BiasGeluGradients& gradients) {
  std::vector<double> errors = library_backward_tolerances(gelu, output, sums, dy, gradients.dx);
  const double rounding = unit_roundoff(Dtype::f32) + unit_roundoff(output);
  for (std::size_t i = 0; i < dy.size(); ++i)
    if (std::isfinite(gradients.dx[i]))
      errors[i] += std::fabs(dy[i]) * slope_tolerance(gelu, sums[i], rounding);
  return with_column_bounds(output, std::move(errors), gradients);
}

} // namespace kg::test
