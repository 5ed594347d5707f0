// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of gemm, as gemm.cu calls them: the problem is valid, m, n and the batch are at
// least 1, k is 0 where A and B must not be read, and the strides of a single product are 0.
#pragma once

#include "gemm/gemm.h"
#include "primitives/pack.h"
#include "runtime/error.h"

#include <cstdint>
#include <limits>

namespace kg::gemm {

template <class T> // float, f16, bf16
void run_naive(const BasicProblem<T>& problem, Stream& stream);
void run_tiled(const Problem& problem, Stream& stream);
template <class T> // float, f16, bf16
void run_skinny(const BasicProblem<T>& problem, Stream& stream);
template <class T> // float, with Math::tf32, f16, bf16
void run_mma(const BasicProblem<T>& problem, Stream& stream);

// Columns, or rows, of C for which skinny reads its tall operand once.
inline constexpr std::int64_t kSkinnySide = 8;

// Whether every row of every matrix starts at a multiple of 16 bytes.
template <class T>
bool rows_are_aligned(const T* data, std::int64_t leading, std::int64_t stride) {
  return is_aligned(data) && leading % kPackElements<T> == 0 && stride % kPackElements<T> == 0;
}

// The blocks of a grid that has one for each tile of each C.
inline unsigned count_blocks(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t batch) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  require(tiles_m <= kMost / tiles_n && batch <= kMost / (tiles_m * tiles_n),
          "gemm: more than 2^31 tiles of C; split the problem");
  return static_cast<unsigned>(tiles_m * tiles_n * batch);
}

} // namespace kg::gemm
