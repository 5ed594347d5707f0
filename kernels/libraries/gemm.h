// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "libraries/library.h"
#include "libraries/variants.h"
#include "ops/gemm/epilogue.h"

#include <array>

namespace kg::vendor {

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
  bool tf32 = false; // f32 inputs may be rounded to TF32 before multiplication
  gemm::Epilogue epilogue = gemm::Epilogue::none;
  const void* bias = nullptr; // n elements, if the epilogue adds a bias
  std::int64_t batch = 1;     // number of products; all share one bias
  // Batch strides in elements. With stride 0, all products share A or B.
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
  // m x n: input of gradient epilogues, optional output of cuBLASLt's bias_gelu_tanh; else null.
  void* z = nullptr;
  std::int64_t ldz = 0;
  // Only without a batch. The summed matrix is stored by rows: A transposed, B not transposed.
  gemm::BiasGradient bias_gradient = gemm::BiasGradient::none;
  void* dbias = nullptr;

  bool adds_bias() const {
    return epilogue >= gemm::Epilogue::bias && epilogue <= gemm::Epilogue::bias_gelu_tanh;
  }
  bool keeps_z() const { return adds_bias() && z != nullptr; }
  bool differentiates() const { return epilogue >= gemm::Epilogue::drelu; }

  friend bool operator==(const Gemm&, const Gemm&) = default;
};

// A packed matrix: row-major, or column-major if transposed.
struct Packed {
  const void* data;
  bool transposed = false;
};
// c = alpha a b, all packed. c is m x n, and its elements are sums of k products.
inline Gemm packed_gemm(Dtype dtype, const std::array<std::int64_t, 3>& mnk, float alpha,
                        const Packed& a, const Packed& b, void* c) {
  const auto [m, n, k] = mnk;
  return {.dtype = dtype,
          .transpose_a = a.transposed,
          .transpose_b = b.transposed,
          .m = m,
          .n = n,
          .k = k,
          .alpha = alpha,
          .a = a.data,
          .lda = a.transposed ? m : k,
          .b = b.data,
          .ldb = b.transposed ? k : n,
          .beta = 0,
          .c = c,
          .ldc = n};
}

Names gemm_variants(Dtype dtype, gemm::Epilogue epilogue = gemm::Epilogue::none,
                    gemm::BiasGradient bias_gradient = gemm::BiasGradient::none);
void gemm(std::string_view variant, const Gemm& problem, Math math, Stream& stream);

using GemmVariant =
    VariantOf<void(const Gemm&, Math, Stream&), Dtype, gemm::Epilogue, gemm::BiasGradient>;
extern const Table<GemmVariant> gemm_table;

} // namespace kg::vendor
