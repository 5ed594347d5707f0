// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kg::gemm {

// What C becomes, of z = alpha op(A) op(B) + beta C + bias, the bias of its column:
//   bias            z
//   bias_relu       max(z, 0), as a selection: NaN stays
//   bias_gelu       z Phi(z), Phi the normal distribution
//   bias_gelu_tanh  its approximation (primitives/activation.h)
// or, of dy = alpha op(A) op(B) + beta C and a z that the forward pass kept:
//   drelu           dy where z > 0, else 0
//   dgelu           dy times the slope of z Phi(z)
//   dgelu_tanh      dy times that of its approximation
// For drelu z may be the layer's result, which is positive where z is, and which the gradient of
// the next layer's weights needs anyway: relu keeps nothing. Why no mask of bits, as in cuBLASLt:
// it would read 16 to 32 times less than z, but be one more thing to write and to keep, and no
// gelu's.
enum class Epilogue { none, bias, bias_relu, bias_gelu, bias_gelu_tanh, drelu, dgelu, dgelu_tanh };

// Whose sums the gradient of a bias is: of C's columns (cuBLASLt's BGRAD behind DRELU and DGELU),
// or over k, of op(A)'s rows or op(B)'s columns (its BGRADB and BGRADA, for it stores by columns).
enum class BiasGradient { none, of_c, of_a, of_b };

} // namespace kg::gemm
