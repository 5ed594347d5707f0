// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm: C = alpha op(A) op(B) + beta C in f32, op(X) = X or its transpose.
//
// Problem: row-major matrices; op(A) is m x k, op(B) is k x n, C is m x n. lda, ldb, ldc are the
// distances between stored rows. BLAS semantics: beta = 0 never reads C (NaN in it does not
// spread), alpha = 0 or k = 0 never reads A and B. C overlaps neither A nor B. Every product is
// accumulated by one f32 fused multiply-add, in a fixed order: repeated runs are bit-identical.
//
// Special values: IEEE 754. A NaN or infinity of A reaches its row of C alone, one of B its column;
// infinities of both signs in a sum, or an infinity times 0, give NaN. A sum starts from +0 and
// becomes alpha sum + beta C: zeros have the signs that IEEE gives that (-0 for a negative alpha
// and beta = 0). Subnormals are kept.
#pragma once

#include "runtime/device_code.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::gemm {

enum class Transpose { no, yes };

// naive: one thread per element of C. tiled: 64x64 tiles of C per block, operands through shared
// memory, 8x8 (or the tile's own) elements per thread in registers.
enum class Variant { automatic, naive, tiled };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::tiled};

struct Problem {
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  float alpha = 1;
  const float* a = nullptr;
  std::int64_t lda = 0; // >= k, or >= m when A is transposed
  const float* b = nullptr;
  std::int64_t ldb = 0; // >= n, or >= k when B is transposed
  float beta = 0;
  float* c = nullptr;
  std::int64_t ldc = 0; // >= n
};

// Whether repeated runs give the same bits.
constexpr bool deterministic(Variant) { return true; }

std::string_view name(Variant variant);

// "nn", "nt", "tn" or "tt", as used in case ids.
std::string_view transposition_name(Transpose a, Transpose b);

// Enqueues the operation and returns the variant that runs. Extents may be 0. Throws Error naming
// the field on a negative extent or a leading dimension that is too small.
Variant run(const Problem& problem, Variant variant, Stream& stream);

// A and B read once, C written once (and read once unless beta = 0); 2 m n k operations.
Work work(const Problem& problem);

} // namespace kg::gemm
