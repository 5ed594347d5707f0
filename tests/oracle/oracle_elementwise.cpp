// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_elementwise.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "runtime/error.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/strided.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

namespace {

// a + b rounded to odd: an inexact sum becomes the adjacent number whose last bit is set.
double odd_sum(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  // The exact rounding error of the addition: Knuth's TwoSum.
  const double other = sum - a;
  const double lost = (a - (sum - other)) + (b - other);
  const bool odd = (std::bit_cast<std::uint64_t>(sum) & 1) != 0;
  if (lost == 0 || odd) return sum;
  return std::nextafter(sum, lost > 0 ? kInfinity : -kInfinity);
}

void require_same_size(const char* what, std::size_t a, std::size_t b) {
  require(a == b, fmt::format("{} oracle: arrays of {} and {} elements", what, a, b));
}

} // namespace

double fused_multiply_add_f32(double a, double b, double c) {
  return round_to(Dtype::f32, odd_sum(a * b, c));
}

std::vector<double> axpy_oracle(Dtype dtype, float alpha, std::span<const double> x,
                                std::span<const double> y) {
  require_same_size("axpy", x.size(), y.size());
  std::vector<double> result;
  result.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    result.push_back(round_to(dtype, fused_multiply_add_f32(alpha, x[i], y[i])));
  return result;
}

std::vector<double> unfused_axpy_tolerance(Dtype dtype, float alpha, std::span<const double> x,
                                           std::span<const double> expected) {
  require_same_size("axpy", x.size(), expected.size());
  const double u = unit_roundoff(Dtype::f32);
  std::vector<double> result;
  result.reserve(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(expected[i])) {
      result.push_back(0);
      continue;
    }
    const double computed = u * (std::fabs(alpha * x[i]) + 2 * std::fabs(expected[i]));
    result.push_back(computed + (dtype == Dtype::f32 ? 0 : ulp(dtype, expected[i])));
  }
  return result;
}

std::vector<double> repeated_oracle(std::span<const double> values,
                                    std::span<const std::int64_t> own,
                                    std::span<const std::int64_t> shape) {
  require(own.size() <= shape.size(),
          fmt::format("repeated oracle: rank {} in rank {}", own.size(), shape.size()));
  require(static_cast<std::int64_t>(values.size()) == element_count(own),
          fmt::format("repeated oracle: {} values for a shape of {}", values.size(),
                      element_count(own)));
  const std::size_t missing = shape.size() - own.size();
  std::vector<double> result;
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    const std::vector<std::int64_t> at = coordinates(i, shape);
    std::int64_t number = 0;
    for (std::size_t d = 0; d < own.size(); ++d)
      number = number * own[d] + (own[d] == 1 ? 0 : at[missing + d]);
    result.push_back(values[static_cast<std::size_t>(number)]);
  }
  return result;
}

BinaryGradients binary_gradients_oracle(elementwise::Op op, Dtype dtype, std::span<const double> dy,
                                        std::span<const double> a, std::span<const double> b) {
  require(op == elementwise::Op::mul || op == elementwise::Op::div,
          "binary gradients oracle: sums and differences have none of their own");
  if (op == elementwise::Op::mul)
    return {elementwise_oracle(op, dtype, dy, b), elementwise_oracle(op, dtype, dy, a)};
  const std::vector<double> share = elementwise_oracle(op, Dtype::f32, dy, b);
  const std::vector<double> ratio = elementwise_oracle(op, Dtype::f32, a, b);
  BinaryGradients result;
  for (std::size_t i = 0; i < share.size(); ++i) {
    result.da.push_back(round_to(dtype, share[i]));
    result.db.push_back(round_to(dtype, round_to(Dtype::f32, -share[i] * ratio[i])));
  }
  return result;
}

double quotient_gradient_tolerance(Dtype dtype, double expected) {
  constexpr double kRoundings = 3.01;
  return stored_tolerance(dtype, expected,
                          kRoundings * unit_roundoff(Dtype::f32) * std::fabs(expected));
}

} // namespace kg::test
