// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// act(gate) value in fp64, its gradients, and their tolerances. Gates and values are the halves of
// the rows; results that overflow f32 are infinite. relu has a single correct result in f32, which
// its oracles return: no tolerance.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_unary.h"
#include "tests/oracle/tolerance.h"
#include "tests/oracle/tolerance_unary.h"
#include "tests/oracle/tolerance_unary_backward.h"

namespace kg::test {

template <class T>
struct Halves {
  std::vector<T> gate, value;
};

// Rows of `cols` gates followed by `cols` values.
template <class T>
Halves<T> halves_of(const std::vector<T>& x, std::int64_t cols) {
  Halves<T> halves;
  for (std::size_t i = 0; i < x.size(); ++i)
    (static_cast<std::int64_t>(i) / cols % 2 == 0 ? halves.gate : halves.value).push_back(x[i]);
  return halves;
}

template <class T>
std::vector<T> side_by_side(const Halves<T>& halves, std::int64_t cols) {
  std::vector<T> x;
  for (auto row = std::size_t{0}; row < halves.gate.size(); row += static_cast<std::size_t>(cols)) {
    const auto first = static_cast<std::ptrdiff_t>(row);
    for (const auto half : {halves.gate.begin(), halves.value.begin()})
      x.insert(x.end(), half + first, half + first + cols);
  }
  return x;
}

// An f32 product: rounded for relu; otherwise infinite on overflow, and NaN if an infinity meets an
// activation that f32 rounds to 0.
inline double gated_product(activation::Function op, double a, double b) {
  const double product = std::isinf(b) ? round_to(Dtype::f32, a) * b : a * b;
  const double rounded = round_to(Dtype::f32, product);
  return op == activation::Function::relu || std::isinf(rounded) ? rounded : product;
}

inline std::vector<double> gated_oracle(activation::Function op, const Halves<double>& x) {
  std::vector<double> y = unary_oracle(op, x.gate);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = gated_product(op, y[i], x.value[i]);
  return y;
}

// (dy value) act'(gate), where (dy value) is rounded to f32, and dy act(gate).
inline Halves<double> gated_gradients_oracle(activation::Function op, const Halves<double>& x,
                                             std::span<const double> dy) {
  Halves<double> dx{{}, unary_oracle(op, x.gate)};
  std::vector<double> products;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    products.push_back(gated_product(op, dy[i], x.value[i]));
    dx.value[i] = gated_product(op, dx.value[i], dy[i]);
  }
  dx.gate = unary_backward_oracle(op, x.gate, products);
  return dx;
}

// The tolerance of a product with f32 error `computed`, rounded to f32 and then stored in `output`.
inline double gated_tolerance(activation::Function op, Dtype output, double product,
                              double computed) {
  if (op == activation::Function::relu || !std::isfinite(product)) return 0;
  const double rounding = unit_roundoff(Dtype::f32) * std::fabs(product);
  return stored_tolerance(output, product, computed + rounding + half_min_subnormal(Dtype::f32));
}

// The error of a product with `factor`, if the activation is off by `error`.
inline double moved(double factor, double error) {
  return std::isfinite(factor) ? std::fabs(factor) * error : 0;
}

// y = gated_oracle of x.
inline std::vector<double> gated_tolerances(activation::Function op, Dtype output,
                                            const Halves<double>& x, std::span<const double> y) {
  const std::vector<double> act = unary_oracle(op, x.gate);
  std::vector<double> bounds;
  for (std::size_t i = 0; i < y.size(); ++i)
    bounds.push_back(gated_tolerance(
        op, output, y[i], moved(x.value[i], unary_f32_tolerance(op, x.gate[i], act[i], output))));
  return bounds;
}

// For a library, which may store the activation in `output`.
inline std::vector<double> library_gated_tolerances(activation::Function op, Dtype output,
                                                    const Halves<double>& x,
                                                    std::span<const double> y) {
  const std::vector<double> act = unary_oracle(op, x.gate);
  const std::vector<double> first = library_tolerances(op, output, x.gate, act);
  std::vector<double> bounds;
  for (std::size_t i = 0; i < y.size(); ++i)
    bounds.push_back(gated_tolerance(op, output, y[i], moved(x.value[i], first[i])));
  return bounds;
}

// The unit for comparing accuracy with a vendor's: that of the activation, times the value.
inline std::vector<double> gated_error_units(activation::Function op, Dtype output,
                                             const Halves<double>& x, std::span<const double> y) {
  const std::vector<double> act = unary_oracle(op, x.gate);
  std::vector<double> units = unary_error_units(op, output, x.gate, act);
  for (std::size_t i = 0; i < y.size(); ++i)
    units[i] = moved(x.value[i], units[i]) + half_min_subnormal(output);
  return units;
}

// dx = gated_gradients_oracle of x and dy. The gate's bound is that of activation_backward for a dy
// that was rounded once.
inline Halves<double> gated_gradient_tolerances(activation::Function op, Dtype output,
                                                const Halves<double>& x, std::span<const double> dy,
                                                const Halves<double>& dx) {
  const std::vector<double> act = unary_oracle(op, x.gate);
  const std::vector<double> slope = unary_slope_oracle(op, x.gate);
  Halves<double> bounds;
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double product = gated_product(op, dy[i], x.value[i]);
    const double rounding =
        unit_roundoff(Dtype::f32) * std::fabs(product) + half_min_subnormal(Dtype::f32);
    bounds.gate.push_back(
        gated_tolerance(op, output, dx.gate[i],
                        unary_backward_f32_tolerance(op, x.gate[i], product, dx.gate[i], output) +
                            moved(slope[i], rounding)));
    bounds.value.push_back(gated_tolerance(
        op, output, dx.value[i], moved(dy[i], unary_f32_tolerance(op, x.gate[i], act[i], output))));
  }
  return bounds;
}

// For a library, which may store the activation, and the product of dy and the value, in `output`.
inline Halves<double> library_gated_gradient_tolerances(activation::Function op, Dtype output,
                                                        const Halves<double>& x,
                                                        std::span<const double> dy,
                                                        const Halves<double>& dx) {
  const std::vector<double> slope = unary_slope_oracle(op, x.gate);
  const std::vector<double> act = library_tolerances(op, output, x.gate, unary_oracle(op, x.gate));
  std::vector<double> products;
  for (std::size_t i = 0; i < dy.size(); ++i)
    products.push_back(gated_product(op, dy[i], x.value[i]));
  Halves<double> bounds{library_backward_tolerances(op, output, x.gate, products, dx.gate), {}};
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const double rounding =
        (unit_roundoff(Dtype::f32) + unit_roundoff(output)) * std::fabs(products[i]) +
        half_min_subnormal(output);
    if (op != activation::Function::relu && std::isfinite(dx.gate[i]))
      bounds.gate[i] += moved(slope[i], rounding);
    bounds.value.push_back(gated_tolerance(op, output, dx.value[i], moved(dy[i], act[i])));
  }
  return bounds;
}

} // namespace kg::test
