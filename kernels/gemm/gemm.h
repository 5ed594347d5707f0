// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm: C = alpha op(A) op(B) + beta C, op(X) = X or its transpose; with an epilogue, an activation
// of that plus a bias.
//
// Problem: row-major matrices; op(A) is m x k, op(B) is k x n, C is m x n. lda, ldb, ldc are the
// distances between stored rows. A batch is as many such products, each of its own A, B and C,
// which lie `stride_*` apart; a stride of 0 shares A or B, and a bias is that of all. BLAS
// semantics: beta = 0 never reads C (NaN in it does not spread), alpha = 0 or k = 0 never reads A
// and B. What is written overlaps nothing that is read but C itself.
//
// Rounding: sums are of f32, also of f16 and bf16 matrices, whose products are exact in it; alpha
// and beta C come in f32, and the result is rounded once to T. naive, tiled and skinny accumulate
// every product by one fused multiply-add; mma as the matrix units do, which may cut off bits of a
// partial sum that lie below its f32 significand; split_k as one of these two, and adds its parts
// in their order. In a fixed order either way: repeated runs are bit-identical, those of split_k
// where there are as many parts. z and its activation are computed from the unrounded f32 sum;
// accuracy of the latter: primitives/activation.h.
//
// Elements of f32 matrices are multiplied as they are, unless the problem allows TF32. Then mma
// rounds those of A and B to 10 bits of fraction, to nearest, ties away from zero: products are
// exact after that. What exceeds the largest TF32 by half a unit becomes infinite.
//
// Special values: IEEE 754. A NaN or infinity of A reaches its row of C alone, one of B its column;
// infinities of both signs in a sum, or an infinity times 0, give NaN. A sum starts from +0 and
// becomes alpha sum + beta C: zeros have the signs that IEEE gives that (-0 for a negative alpha
// and beta = 0). Subnormals are kept. A result beyond the largest f16 is infinite.
#pragma once

#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::gemm {

enum class Transpose { no, yes };

// What may be done to elements of f32 matrices before they are multiplied: nothing, or rounding to
// TF32. A permission, which only mma uses; those of 16 bits are exact either way.
enum class Math { f32, tf32 };

// naive: one thread per element of C. tiled: 64x64 tiles of C per block, operands through shared
// memory, 8x8 (or the tile's own) elements per thread in registers; f32. mma: 128x128 tiles by
// matrix instructions; f16, and where the device has compute capability 8.0, bf16, and f32 with
// Math::tf32. skinny: reads the operand with the long side of C once for 8 columns, or rows, of C;
// any C, but made for those of at most 8, which automatic gives it unless k is short. split_k: mma
// or, without it, tiled of parts of k, whose sums a second kernel adds; for C of few tiles and a
// long k, where automatic takes it if there is a workspace.
enum class Variant { automatic, naive, tiled, skinny, split_k, mma };

inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled, Variant::skinny,
                                        Variant::split_k, Variant::mma};

// Whether there is such a variant for matrices of T on the current device, or without one on some
// device: cases are listed anywhere. T: float, f16, bf16.
template <class T>
bool supports(Variant variant, Math math = Math::f32);

// What C becomes, of z = alpha op(A) op(B) + beta C + bias, the bias of its column:
//   bias            z
//   bias_relu       max(z, 0), as a selection: NaN stays
//   bias_gelu       z Phi(z), Phi the normal distribution
//   bias_gelu_tanh  its approximation (primitives/activation.h)
// Without an epilogue there is no bias.
enum class Epilogue { none, bias, bias_relu, bias_gelu, bias_gelu_tanh };

inline constexpr Epilogue kEpilogues[] = {Epilogue::none, Epilogue::bias, Epilogue::bias_relu,
                                          Epilogue::bias_gelu, Epilogue::bias_gelu_tanh};

template <class T>
struct BasicProblem {
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1;
  const T* a = nullptr;
  std::int64_t lda = 0; // >= k, or >= m when A is transposed
  const T* b = nullptr;
  std::int64_t ldb = 0; // >= n, or >= k when B is transposed
  float beta = 0;
  T* c = nullptr;
  std::int64_t ldc = 0; // >= n
  Math math = Math::f32;
  Epilogue epilogue = Epilogue::none;
  const T* bias = nullptr; // n elements, where there is an epilogue
  T* z = nullptr;          // m x n, what the backward of an activation reads; null: not kept
  std::int64_t ldz = 0;    // >= n, where z is kept
  std::int64_t batch = 1;
  // Elements from one matrix of the batch to the next. Those of C, as those of z, do not overlap:
  // one begins behind the last row of another, or their rows lie side by side. Of a single product
  // they say nothing.
  std::int64_t stride_a = 0;
  std::int64_t stride_b = 0;
  std::int64_t stride_c = 0;
  std::int64_t stride_z = 0;
  void* workspace = nullptr; // of workspace_bytes(); null: automatic does not split k
  std::int64_t parts = 0;    // of split_k, at most; 0: as many as fill the device
};
using Problem = BasicProblem<float>;

// Whether repeated runs give the same bits.
constexpr bool deterministic(Variant) { return true; }

std::string_view name(Variant variant);
std::string_view name(Math math);
std::string_view name(Epilogue epilogue); // "bias_relu", as used in case ids

// "nn", "nt", "tn" or "tt", as used in case ids.
std::string_view transposition_name(Transpose a, Transpose b);

// Bytes of device workspace, aligned to 16, that `run` needs for the variant, or that it makes use
// of for automatic; may be 0. Throws Error as `run` does on negative extents.
template <class T>
std::size_t workspace_bytes(const BasicProblem<T>& problem, Variant variant);

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Extents may be 0.
// Throws Error naming the field on a negative extent or stride, a leading dimension that is too
// small, matrices of C or z that overlap, an epilogue without its bias, a bias or z without an
// epilogue, a workspace that is needed and null or not aligned, and on a variant that T, the math,
// or the device does not have.
template <class T>
Variant run(const BasicProblem<T>& problem, Variant variant, Stream& stream);

// Each A, each B and the bias read once, C and z written once (C read once unless beta = 0);
// 2 m n k operations for each product, those of the epilogue not counted.
template <class T>
Work work(const BasicProblem<T>& problem);

} // namespace kg::gemm
