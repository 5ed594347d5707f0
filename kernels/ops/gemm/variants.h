// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of gemm as gemm.cu calls them. Preconditions: the problem is valid; m, n and the
// batch are at least 1; k is 0 if A and B must not be read; strides of a single product are 0.
#pragma once

#include "ops/gemm/gemm.h"
#include "primitives/pack.h"
#include "runtime/error.h"

#include <cstdint>
#include <limits>

namespace kg::gemm {

// Partial sums of split_k: m rows of n floats, `pitch` apart, for each part of each product.
struct PartialSums {
  float* data = nullptr; // null: k is not split
  std::int64_t m = 0, n = 0;
  std::int64_t pitch = 0; // a multiple of 16 bytes
};

// How a launch of tiled or mma splits k: `parts` of `depth` steps; the last may be shorter.
struct Split {
  unsigned parts = 1;
  std::int64_t depth = 0;
  PartialSums sums = {};
};

// The steps of k that a block sums; `part` numbers the parts of all products.
struct Steps {
  std::int64_t first, count;
};
__device__ __forceinline__ Steps steps_of(const Split& split, unsigned part, std::int64_t k) {
  const std::int64_t first = part % split.parts * split.depth;
  return {first, k - first < split.depth ? k - first : split.depth};
}

template <class T>
Split whole(const BasicProblem<T>& problem) {
  return {.parts = 1, .depth = problem.k};
}

template <class T> // float, f16, bf16
void run_naive(const BasicProblem<T>& problem, Stream& stream);
void run_tiled(const Problem& problem, const Split& split, Stream& stream);
void run_tiled_wide(const Problem& problem, Stream& stream);
TileShape tile_shape_of_tiled(const Problem& problem);
template <class T> // float, f16, bf16
void run_skinny(const BasicProblem<T>& problem, Stream& stream);
template <class T> // float, with Math::tf32, f16, bf16
void run_mma(const BasicProblem<T>& problem, const Split& split, Stream& stream);
template <class T>
TileShape tile_shape_of_mma(const BasicProblem<T>& problem);
template <class T> // f16, bf16
void run_wgmma(const BasicProblem<T>& problem, Stream& stream);
template <class T>
TileShape tile_shape_of_wgmma(const BasicProblem<T>& problem);
template <class T> // float, f16, bf16
void run_split_k(const BasicProblem<T>& problem, Stream& stream);

// The parts of split_k: the problem's number, or one chosen for the device.
template <class T>
Split split_of(const BasicProblem<T>& problem);

// Computes dbias from the final C, after any variant; and the workspace it needs, in bytes.
template <class T> // float, f16, bf16
void run_bias_gradient(const BasicProblem<T>& problem, Stream& stream);
template <class T>
std::size_t bias_gradient_bytes(const BasicProblem<T>& problem);

// Whether automatic should split k, given a workspace.
template <class T>
bool split_pays(const BasicProblem<T>& problem);

// Whether tensor maps can describe A and B, and wgmma can write C; otherwise mma runs.
template <class T> // f16, bf16
bool wgmma_fits(const BasicProblem<T>& problem);

// Columns, or rows, of C per pass of skinny over its long operand.
inline constexpr std::int64_t kSkinnySide = 8;

// Whether every row of every matrix is aligned to 16 bytes.
template <class T>
bool rows_are_aligned(const T* data, std::int64_t leading, std::int64_t stride) {
  return is_aligned(data) && leading % kPackElements<T> == 0 && stride % kPackElements<T> == 0;
}

// The number of blocks of a grid with one block per tile of each C.
inline unsigned count_blocks(std::int64_t tiles_m, std::int64_t tiles_n, std::int64_t batch) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  require(tiles_m <= kMost / tiles_n && batch <= kMost / (tiles_m * tiles_n),
          "gemm: more than 2^31 tiles of C; split the problem");
  return static_cast<unsigned>(tiles_m * tiles_n * batch);
}

} // namespace kg::gemm
