// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations beyond the four of oracle.h. Each result has one right value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/oracle.h"

namespace kg::test {

// a b + c of f32 numbers, rounded once to f32: IEEE 754's fusedMultiplyAdd. The product is exact in
// binary64 (48 bits). The sum is rounded to odd there, which makes the rounding to f32 the only one
// (53 >= 24 + 2 bits; Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
double fused_multiply_add_f32(double a, double b, double c);

// alpha x[i] + y[i] as axpy.h defines it: fused in f32, then rounded to `dtype`.
std::vector<double> axpy_oracle(Dtype dtype, float alpha, std::span<const double> x,
                                std::span<const double> y);

// What an implementation may be off axpy_oracle that rounds the product and the sum to f32 apart: u
// of the product and of the sum; one ulp where the result is then rounded to a narrower type, half
// of it by that rounding and half by the oracle's. 0 where the result is not finite.
std::vector<double> unfused_axpy_tolerance(Dtype dtype, float alpha, std::span<const double> x,
                                           std::span<const double> expected);

// A packed tensor of shape `own` repeated to `shape` by NumPy's rule: aligned at the last axes, and
// where its extent is 1 or missing its one element serves all.
std::vector<double> repeated_oracle(std::span<const double> values,
                                    std::span<const std::int64_t> own,
                                    std::span<const std::int64_t> shape);

// The gradients of both operands of a product or a quotient, from the gradient of the result.
struct BinaryGradients {
  std::vector<double> da;
  std::vector<double> db;
};

// As elementwise_backward.h defines them: mul and div alone, each operation rounded to f32 and the
// result to `dtype`.
BinaryGradients binary_gradients_oracle(elementwise::Op op, Dtype dtype, std::span<const double> dy,
                                        std::span<const double> a, std::span<const double> b);

// What db of a quotient may be off -dy a / b^2: three roundings to f32, u each and 0.01 u for
// their products, and the one to `dtype`. Where no intermediate result is subnormal.
double quotient_gradient_tolerance(Dtype dtype, double expected);

} // namespace kg::test
