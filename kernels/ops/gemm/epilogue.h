// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::gemm {

// The value stored to C. From z = alpha op(A) op(B) + beta C + bias, one bias per column:
//   bias            z
//   bias_relu       max(z, 0), as a selection: NaN stays
//   bias_gelu       z Phi(z), Phi the normal distribution
//   bias_gelu_tanh  its approximation (primitives/activation.h)
// From dy = alpha op(A) op(B) + beta C and a z that the forward pass kept:
//   drelu           dy where z > 0, else 0
//   dgelu           dy times the derivative of z Phi(z)
//   dgelu_tanh      dy times the derivative of the approximation
// For drelu, z may be the layer's result, which has the same sign as z where positive. The next
// layer's weight gradient needs that result anyway, so relu stores nothing extra. cuBLASLt's bit
// mask would be 16 to 32 times smaller than z, but is one more array to write and keep, and useless
// to gelu.
enum class Epilogue { none, bias, bias_relu, bias_gelu, bias_gelu_tanh, drelu, dgelu, dgelu_tanh };

// The matrix whose sums are the gradient of a bias: C by columns (cuBLASLt: BGRAD with DRELU or
// DGELU); over k, op(A) by rows or op(B) by columns (BGRADB or BGRADA in its column-major terms).
enum class BiasGradient { none, of_c, of_a, of_b };

} // namespace kg::gemm
