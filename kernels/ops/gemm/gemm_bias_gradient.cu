// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gemm, gradient of a bias: sums of the columns of C, or of an operand over k. Blocks sum parts of
// the rows; a second launch adds the parts.
//
// Bytes: the matrix once more, by 16-byte accesses if its rows are aligned. The parts' sums, 4
// bytes per column, are at most 1/32 of a 16-bit matrix (a part has at least 64 rows). Flops: one
// addition per element. Expected on an H200, not measured: 85 % of its read bandwidth from 64 MiB
// on, about 3 % of the time of a Tensor Core GEMM with k = 4096. Why not fused into the kernel that
// computes C: mma and skinny have no registers left for column sums, and in naive, skinny and
// split_k no thread stays in one column. Why not a product with a row of ones: same memory
// bandwidth, same rounding. Why not atomics: their order, and so the bits, would change from run to
// run.
#include "ops/gemm/variants.h"

#include "primitives/row.h"
#include "primitives/sum_partials.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>

namespace kg::gemm {

inline constexpr int kSumThreads = 256;
inline constexpr int kSumRows = kSumThreads / kLanes; // read in parallel by a block
inline constexpr int kSumLoads = 4;                   // per thread, in flight together
inline constexpr int kSumStep = kSumLoads * kSumRows; // a part's rows are a multiple

// A matrix by rows, and the rows per part.
template <class T>
struct Summed {
  const T* data;
  std::int64_t rows, cols;
  std::int64_t leading;
  std::int64_t parts = 0, piece = 0;
};

// A block sums 32 vectors of Count columns; each warp takes every eighth row of part blockIdx.y.
template <class T, int Count>
__global__ void __launch_bounds__(kSumThreads) column_sums(Summed<T> m, float* partials) {
  // Padded so that neighbouring columns, stored in different rows, fall into different banks.
  __shared__ float of_warps[kSumRows][Count][kLanes + kLanes / Count];
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes;
  const int warp = thread / kLanes;
  const std::int64_t tile = std::int64_t{blockIdx.x} * kLanes;
  const std::int64_t first = blockIdx.y * m.piece;
  float sum[Count] = {};
  for (std::int64_t row = first + warp; row < first + m.piece; row += kSumStep) {
    StoredPack<T, Count> stored[kSumLoads];
    KG_UNROLL
    for (int l = 0; l < kSumLoads; ++l) {
      const std::int64_t at = row + l * kSumRows;
      const std::int64_t cols = at < m.rows ? m.cols : 0; // reads nothing past the last row
      stored[l] = load_stored<T, Count>(m.data + at * m.leading, tile + lane, cols);
    }
    Floats<Count> values[kSumLoads];
    widen(stored, values);
    KG_UNROLL
    for (int l = 0; l < kSumLoads; ++l) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) sum[e] += values[l].value[e];
    }
  }
  KG_UNROLL
  for (int e = 0; e < Count; ++e) of_warps[warp][e][lane] = sum[e];
  __syncthreads();
  float* const to = partials + partial_offset(blockIdx.y, 1, 0, m.cols) + tile * Count;
  for (int c = thread; c < kLanes * Count && tile * Count + c < m.cols; c += kSumThreads) {
    float all = of_warps[0][c % Count][c / Count];
    for (int w = 1; w < kSumRows; ++w) all += of_warps[w][c % Count][c / Count];
    to[c] = all;
  }
}

namespace {

template <class T>
Summed<T> matrix_of(const BasicProblem<T>& p) {
  switch (p.bias_gradient) {
  case BiasGradient::of_a: return {p.a, p.k, p.m, p.lda};
  case BiasGradient::of_b: return {p.b, p.k, p.n, p.ldb};
  default: return {p.c, p.m, p.n, p.ldc};
  }
}

template <class T>
std::int64_t tiles_of(const Summed<T>& m, int count) {
  return div_up(m.cols, kLanes * count);
}

// As many parts as fill the device, but large enough that their sums cost little. The number does
// not depend on the alignment.
template <class T>
Summed<T> cut(Summed<T> m) {
  constexpr std::int64_t kLeastRows = 64;
  static_assert(kLeastRows % kSumStep == 0);
  constexpr std::int64_t kBlocksPerSm = 4;
  const std::int64_t tiles = std::max<std::int64_t>(tiles_of(m, kPackElements<T>), 1);
  const std::int64_t wanted =
      std::max<std::int64_t>(kBlocksPerSm * device_properties().sm_count / tiles, 1);
  m.piece = std::max(div_up(div_up(m.rows, wanted), kSumStep) * kSumStep, kLeastRows);
  m.parts = div_up(m.rows, m.piece);
  return m;
}

template <class T, int Count>
void launch_sums(const Summed<T>& m, float* partials, Stream& stream) {
  launch(column_sums<T, Count>,
         {.grid = dim3(grid_x(tiles_of(m, Count), "gemm: the columns", "split them"),
                       static_cast<unsigned>(m.parts)),
          .block = dim3(kSumThreads),
          .stream = &stream},
         m, partials);
}

} // namespace

template <class T>
std::size_t bias_gradient_bytes(const BasicProblem<T>& p) {
  if (p.bias_gradient == BiasGradient::none) return 0;
  const Summed<T> m = cut(matrix_of(p));
  return partials_bytes(m.parts, 1, m.cols);
}

template <class T>
void run_bias_gradient(const BasicProblem<T>& p, Stream& stream) {
  const Summed<T> m = cut(matrix_of(p));
  auto* const partials = static_cast<float*>(p.workspace);
  if (m.parts > 0) {
    if (rows_are_aligned(m.data, m.leading, 0))
      launch_sums<T, kPackElements<T>>(m, partials, stream);
    else
      launch_sums<T, 1>(m, partials, stream);
  }
  launch_sum_partials<T, 1>("gemm", partials, m.parts, m.cols, {p.dbias}, stream);
}

template void run_bias_gradient(const BasicProblem<float>&, Stream&);
template void run_bias_gradient(const BasicProblem<f16>&, Stream&);
template void run_bias_gradient(const BasicProblem<bf16>&, Stream&);
template std::size_t bias_gradient_bytes(const BasicProblem<float>&);
template std::size_t bias_gradient_bytes(const BasicProblem<f16>&);
template std::size_t bias_gradient_bytes(const BasicProblem<bf16>&);

} // namespace kg::gemm
