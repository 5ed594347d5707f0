// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Elementwise operations beyond the four in oracle.h. Each result has a single correct value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/oracle.h"

namespace kg::test {

// a b + c of f32 numbers, rounded once to f32: IEEE 754's fusedMultiplyAdd. The product is exact in
// binary64 (48 bits); the sum is rounded to odd there, so only the rounding to f32 counts (53 >= 24
// + 2 bits; Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums", 2008).
double fused_multiply_add_f32(double a, double b, double c);

// alpha x[i] + y[i] as axpy.h defines it: fused in f32, then rounded to `dtype`.
std::vector<double> axpy_oracle(Dtype dtype, float alpha, std::span<const double> x,
                                std::span<const double> y);

// The tolerance around axpy_oracle for implementations that round product and sum to f32
// separately: u of each. If the result is then rounded to a narrower type: one ulp, half by that
// rounding and half by the oracle's. 0 if the result is not finite.
std::vector<double> unfused_axpy_tolerance(Dtype dtype, float alpha, std::span<const double> x,
                                           std::span<const double> expected);

// A packed tensor of shape `own`, broadcast to `shape` by NumPy's rule: aligned at the last axes;
// an axis with extent 1, or a missing one, is repeated.
std::vector<double> repeated_oracle(std::span<const double> values,
                                    std::span<const std::int64_t> own,
                                    std::span<const std::int64_t> shape);

// The gradients of both operands of a product or quotient, from the gradient of the result.
struct BinaryGradients {
  std::vector<double> da;
  std::vector<double> db;
};

// As elementwise_backward.h defines them, for mul and div only: each operation is rounded to f32
// and the result to `dtype`.
BinaryGradients binary_gradients_oracle(elementwise::Op op, Dtype dtype, std::span<const double> dy,
                                        std::span<const double> a, std::span<const double> b);

// The tolerance of a quotient's db around -dy a / b^2: three roundings to f32, u each and 0.01 u
// for their products, and the rounding to `dtype`. Valid if no intermediate result is subnormal.
double quotient_gradient_tolerance(Dtype dtype, double expected);

} // namespace kg::test
