// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of gelu(x + bias) in fp64, and what results may be off them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/support/numbers.h"
#include "tests/support/oracle_bias_gelu.h"
#include "tests/support/tolerance.h"
#include "tests/support/tolerance_unary_backward.h"

namespace kg::test {

struct BiasGeluGradients {
  std::vector<double> dx, dbias; // per element, per column
};

// `sums` are bias_sums of rows of `cols` elements, as many as dy.
inline BiasGeluGradients bias_gelu_gradients_oracle(UnaryOp gelu, std::span<const double> sums,
                                                    std::span<const double> dy, std::int64_t cols) {
  BiasGeluGradients gradients{unary_backward_oracle(gelu, sums, dy), {}};
  gradients.dbias.assign(static_cast<std::size_t>(cols), 0.0);
  for (std::size_t i = 0; i < dy.size(); ++i)
    gradients.dbias[i % gradients.dbias.size()] += gradients.dx[i];
  return gradients;
}

// What a relative error of `error` in the argument moves the slope: the slope beside, in fp64.
inline double slope_tolerance(UnaryOp gelu, double z, double error) {
  if (!std::isfinite(z)) return 0;
  const std::vector<double> slope =
      unary_slope_oracle(gelu, std::vector<double>{z, z * (1 - error), z * (1 + error)});
  return std::max(std::fabs(slope[1] - slope[0]), std::fabs(slope[2] - slope[0]));
}

// One element in f32: the bound of activation_backward, of an argument that was rounded to f32.
inline double bias_gelu_backward_f32_tolerance(UnaryOp gelu, double sum, double dy, double dx) {
  if (!std::isfinite(sum) || !std::isfinite(dy) || !std::isfinite(dx)) return 0;
  return unary_backward_f32_tolerance(gelu, sum, dy, dx) +
         std::fabs(dy) * slope_tolerance(gelu, sum, unit_roundoff(Dtype::f32));
}

// dx, rounded once more where it is stored. A column's terms may all err to one side, and its sum
// has no longer chain than the rows (gemm_f32_positive_tolerance, of the sum of magnitudes).
inline BiasGeluGradients bias_gelu_backward_tolerances(UnaryOp gelu, Dtype output,
                                                       std::span<const double> sums,
                                                       std::span<const double> dy,
                                                       const BiasGeluGradients& gradients) {
  const std::size_t cols = gradients.dbias.size();
  BiasGeluGradients bounds;
  std::vector<double> errors(cols, 0.0), magnitudes(cols, 0.0);
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double dx = gradients.dx[i];
    const double error = bias_gelu_backward_f32_tolerance(gelu, sums[i], dy[i], dx);
    bounds.dx.push_back(std::isfinite(dx) ? stored_tolerance(output, dx, error) : 0);
    errors[i % cols] += error;
    magnitudes[i % cols] += std::fabs(dx);
  }
  const auto rows = static_cast<std::int64_t>(cols == 0 ? 0 : dy.size() / cols);
  for (std::size_t c = 0; c < cols; ++c) {
    const double sum = gradients.dbias[c];
    const double error = errors[c] + gemm_f32_positive_tolerance(rows, magnitudes[c]);
    bounds.dbias.push_back(std::isfinite(sum) ? stored_tolerance(output, sum, error) : 0);
  }
  return bounds;
}

} // namespace kg::test
