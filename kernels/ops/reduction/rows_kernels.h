// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions of contiguous rows: a warp or part of a warp per row, a block per row, or several
// blocks per row.
#pragma once

#include "ops/reduction/target.h"
#include "primitives/block.h"
#include "primitives/pack.h"

#include <cstdint>

namespace kg::reduction {

inline constexpr int kLoads = 4; // 16-byte loads in flight per thread
// Longest row that a warp reduces alone: up to 16 loads per lane, and no barrier.
inline constexpr std::int64_t kWarpMaxCols = 2048;

// The share of one thread, of `threads`, in the reduction of `count` contiguous elements. The first
// element has index `index` on its axis; threads stride over packs. 16-byte loads begin at the
// first aligned address. Each position in a pack has its own chain.
template <class F, class T>
__device__ inline typename F::Accumulator reduce_strided(const F& functor, const T* x,
                                                         std::int64_t count, std::int64_t index,
                                                         int thread, int threads) {
  constexpr int kCount = kPackElements<T>;
  using Chunk = Pack<T, kCount>;
  typename F::Accumulator chain[kCount];
  KG_UNROLL
  for (int e = 0; e < kCount; ++e) chain[e] = F::identity();
  const std::int64_t boundary = elements_to_boundary(x);
  const std::int64_t head = boundary < count ? boundary : count;
  const std::int64_t packs = (count - head) / kCount;
  const auto* body = reinterpret_cast<const Chunk*>(x + head);
  const auto take = [&](const Chunk& pack, std::int64_t p) {
    KG_UNROLL
    for (int e = 0; e < kCount; ++e)
      chain[e] = F::combine(chain[e], functor.from(pack.element[e], index + head + p * kCount + e));
  };

  const std::int64_t step = std::int64_t{kLoads} * threads;
  std::int64_t p = thread;
  for (; p + step - threads < packs; p += step) {
    Chunk pack[kLoads];
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) pack[l] = body[p + l * threads];
    KG_UNROLL
    for (int l = 0; l < kLoads; ++l) take(pack[l], p + l * threads);
  }
  for (; p < packs; p += threads) {
    const Chunk pack = body[p]; // one load; for a reference nvcc loads each element
    take(pack, p);
  }

  const std::int64_t edge = count - packs * kCount; // head and tail together
  for (std::int64_t i = thread; i < edge; i += threads) {
    const std::int64_t place = i < head ? i : i + packs * kCount;
    chain[0] = F::combine(chain[0], functor.from(x[place], index + place));
  }
  KG_UNROLL
  for (int half = kCount / 2; half > 0; half /= 2) {
    KG_UNROLL
    for (int e = 0; e < half; ++e) chain[e] = F::combine(chain[e], chain[e + half]);
  }
  return chain[0];
}

// `lanes` neighbouring threads per row: a power of two, at most a warp.
template <class F, class T, class Out>
__global__ void __launch_bounds__(kThreads)
    warp_rows(F functor, const T* x, std::int64_t rows, std::int64_t cols, std::int64_t leading,
              int lanes, Target<F, Out> target) {
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * (kThreads / lanes) + thread / lanes;
  const int lane = thread % lanes;
  auto value = F::identity();
  if (row < rows) value = reduce_strided(functor, x + row * leading, cols, 0, lane, lanes);
  value = group_reduce<F>(value, lanes);
  if (row < rows && lane == 0) target.store(functor, row, value);
}

// Rows are split into pieces, one per grid x; blocks stride over the rows along grid y.
template <class F, class T, class Out>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    block_rows(F functor, const T* x, std::int64_t rows, std::int64_t cols, std::int64_t leading,
               std::int64_t piece, Target<F, Out> target) {
  __shared__ typename F::Accumulator scratch[kThreads / kLanes];
  const std::int64_t first = blockIdx.x * piece;
  const std::int64_t count = cols - first < piece ? cols - first : piece;
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    const auto share =
        reduce_strided(functor, x + row * leading + first, count, first, thread, kThreads);
    const auto value = block_reduce<F>(share, scratch);
    if (thread == 0) target.store(functor, row * gridDim.x + blockIdx.x, value);
    __syncthreads(); // scratch is free for the next row
  }
}

} // namespace kg::reduction
