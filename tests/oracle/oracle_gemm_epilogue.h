// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The epilogues of a GEMM in fp64, and their tolerances.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_bias_gelu_backward.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_unary.h"

namespace kg::test {

// z = product + bias of its column; y = activation(z), or z without an activation.
struct EpilogueOracle {
  std::vector<double> z, y;
};
inline EpilogueOracle epilogue_oracle(std::optional<activation::Function> activation,
                                      std::span<const double> product,
                                      std::span<const double> bias) {
  const std::vector<double> z = bias_sums(product, bias);
  return {z, activation ? unary_oracle(*activation, z) : z};
}

struct EpilogueTolerances {
  std::vector<double> z, y;
};

// `product`: bounds of the f32 product before the bias is added; the addition rounds by u |z|. An
// error in z changes the activation by at most 1.13 times as much: the gelus are steepest near
// sqrt(2), with 1.129.
inline EpilogueTolerances epilogue_tolerances(std::optional<activation::Function> activation,
                                              Dtype output, const EpilogueOracle& expected,
                                              std::span<const double> product) {
  constexpr double kSteepest = 1.13;
  EpilogueTolerances bounds;
  for (std::size_t i = 0; i < product.size(); ++i) {
    const double z = expected.z[i];
    const double y = expected.y[i];
    if (!std::isfinite(z)) { // there is a single correct value
      bounds.z.push_back(0);
      bounds.y.push_back(0);
      continue;
    }
    const double sum = product[i] + unit_roundoff(Dtype::f32) * std::fabs(z);
    const double activated =
        activation ? kSteepest * sum + unary_f32_tolerance(*activation, z, y, output) : sum;
    bounds.z.push_back(stored_tolerance(output, z, sum));
    bounds.y.push_back(stored_tolerance(output, y, activated));
  }
  return bounds;
}

// y of a library, which may store z in `output` before the activation, and whose gelu may cancel.
inline std::vector<double>
library_epilogue_tolerances(std::optional<activation::Function> activation, Dtype output,
                            const EpilogueOracle& expected, std::span<const double> product) {
  std::vector<double> sums;
  for (std::size_t i = 0; i < product.size(); ++i)
    sums.push_back(product[i] + unit_roundoff(output) * std::fabs(expected.z[i]) +
                   half_min_subnormal(output));
  std::vector<double> bounds = epilogue_tolerances(activation, output, expected, sums).y;
  if (activation == activation::Function::gelu || activation == activation::Function::gelu_tanh)
    for (std::size_t i = 0; i < bounds.size(); ++i)
      bounds[i] += gelu_cancelling_tolerance(expected.z[i], expected.y[i]);
  return bounds;
}

// --- Backward: dz = product f'(z), for a given z, and db, the column sums of dz.

// Tolerances of the column sums of `values` around their fp64 sums `db`; db.size() columns per row.
inline std::vector<double> column_sum_tolerances(Dtype output, std::span<const double> values,
                                                 std::span<const double> db) {
  std::vector<double> magnitudes(db.size(), 0.0), bounds;
  for (std::size_t i = 0; i < values.size(); ++i) magnitudes[i % db.size()] += std::fabs(values[i]);
  const auto rows = static_cast<std::int64_t>(db.empty() ? 0 : values.size() / db.size());
  for (std::size_t c = 0; c < db.size(); ++c)
    bounds.push_back(
        std::isfinite(db[c])
            ? stored_tolerance(output, db[c], sum_f32_positive_tolerance(rows, magnitudes[c]))
            : 0);
  return bounds;
}

inline std::vector<double> column_sums(std::span<const double> values, std::int64_t columns) {
  std::vector<double> sums(static_cast<std::size_t>(columns), 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) sums[i % sums.size()] += values[i];
  return sums;
}

// `product` is multiplied by the derivative and has the f32 bounds `product_bounds`, which it
// scales; the derivative errs as in activation_backward. A dz that is not finite must match.
inline std::vector<double> epilogue_gradient_tolerances(activation::Function activation,
                                                        Dtype output, std::span<const double> z,
                                                        std::span<const double> product,
                                                        std::span<const double> product_bounds,
                                                        std::span<const double> dz) {
  const std::vector<double> slope = unary_slope_oracle(activation, z);
  std::vector<double> bounds;
  for (std::size_t i = 0; i < z.size(); ++i) {
    const double error = std::fabs(slope[i]) * product_bounds[i] +
                         unary_backward_f32_tolerance(activation, z[i], product[i], dz[i], output);
    bounds.push_back(
        std::isfinite(dz[i]) && std::isfinite(z[i]) ? stored_tolerance(output, dz[i], error) : 0);
  }
  return bounds;
}

// For a library, which may store the product before multiplying it, and whose derivatives may come
// from numbers near 1.
inline std::vector<double>
library_epilogue_gradient_tolerances(activation::Function activation, Dtype output,
                                     std::span<const double> z, std::span<const double> product,
                                     std::span<const double> product_bounds,
                                     std::span<const double> dz) {
  const std::vector<double> slope = unary_slope_oracle(activation, z);
  std::vector<double> bounds = library_backward_tolerances(activation, output, z, product, dz);
  for (std::size_t i = 0; i < z.size(); ++i)
    if (std::isfinite(dz[i]) && std::isfinite(z[i]))
      bounds[i] +=
          std::fabs(slope[i]) * (product_bounds[i] + unit_roundoff(output) * std::fabs(product[i]) +
                                 half_min_subnormal(output));
  return bounds;
}

} // namespace kg::test
