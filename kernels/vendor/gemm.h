// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "vendor/library.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

// What follows the product: a bias of each column, and an activation of the sum; or a factor, the
// slope of the activation at z.
enum class GemmEpilogue {
  none,
  bias,
  bias_relu,
  bias_gelu,
  bias_gelu_tanh,
  drelu,
  dgelu,
  dgelu_tanh
};
constexpr bool adds_bias(GemmEpilogue epilogue) {
  return epilogue >= GemmEpilogue::bias && epilogue <= GemmEpilogue::bias_gelu_tanh;
}
constexpr bool differentiates(GemmEpilogue epilogue) { return epilogue >= GemmEpilogue::drelu; }

// The gradient of a bias: sums of C's columns, or over k of op(A)'s rows or of op(B)'s columns.
enum class GemmBiasGradient { none, of_c, of_a, of_b };

// Row-major matrices.
struct Gemm {
  Dtype dtype; // of the matrices; sums and scalars are f32
  bool transpose_a, transpose_b;
  std::int64_t m, n, k;
  float alpha;
  const void* a;
  std::int64_t lda;
  const void* b;
  std::int64_t ldb;
  float beta;
  void* c;
  std::int64_t ldc;
  bool tf32 = false; // f32 matrices may be rounded to TF32 on their way into products
  GemmEpilogue epilogue = GemmEpilogue::none;
  const void* bias = nullptr; // n elements, where the epilogue adds one
  std::int64_t batch = 1;     // so many products, with one bias
  // Elements from one matrix to the next; 0 shares A or B.
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
  const void* z = nullptr; // m x n, where the epilogue reads it
  std::int64_t ldz = 0;
  // Of one product; a matrix whose rows are added lies by rows: A transposed, B as it is.
  GemmBiasGradient bias_gradient = GemmBiasGradient::none;
  void* dbias = nullptr;

  friend bool operator==(const Gemm&, const Gemm&) = default;
};
std::vector<std::string_view>
gemm_variants(Dtype dtype, GemmEpilogue epilogue = GemmEpilogue::none,
              GemmBiasGradient bias_gradient = GemmBiasGradient::none);
void gemm(std::string_view variant, const Gemm& problem, Math math, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct GemmVariant {
  std::string_view name;
  bool (*supports)(Dtype dtype, GemmEpilogue epilogue, GemmBiasGradient bias_gradient);
  void (*run)(const Gemm& problem, Math math, Stream& stream);
};
std::span<const GemmVariant> gemm_table();

} // namespace kg::vendor
