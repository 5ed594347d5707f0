// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients with one block per row, for rows of any length.
//
// block_in_shared keeps y and dy in shared memory as they are stored: two reads and one write per
// element. Expected on an H200: 85 to 90% of a copy's rate while two blocks share a multiprocessor,
// that is to 14,000 columns of f32 and 28,000 of f16 and bf16. block_two_reads is for rows that do
// not fit: it reads them again for the results, the second time from L2 if the rows in flight fit
// there. Why not f32 in shared memory, as the forward kernel has it: that one keeps results between
// its passes, here the inputs are kept and lose nothing in their own type, and twice the rows fit.
#pragma once

#include "primitives/block.h"
#include "primitives/stored_pack.h"
#include "softmax_backward/gradient.h"

namespace kg::softmax_backward {

// At the start of dynamic shared memory, before the row: a sum per warp.
inline constexpr int kScratchFloats = kMaxWarps;
// Packs of either input that a thread loads before it uses the first one.
inline constexpr int kPacksInFlight = 2;

template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads)
    block_in_shared(const T* y, std::int64_t y_stride, const T* dy, std::int64_t dy_stride, T* dx,
                    std::int64_t dx_stride, std::int64_t cols) {
  using Stored = Pack<T, Count>;
  float* scratch = dynamic_shared<float>();
  const std::int64_t packs = (cols + Count - 1) / Count;
  auto* kept_y = reinterpret_cast<Stored*>(scratch + kScratchFloats);
  Stored* kept_dy = kept_y + packs;
  const T* from_y = y + blockIdx.x * y_stride;
  const T* from_dy = dy + blockIdx.x * dy_stride;

  float sum = 0;
  for (std::int64_t first = threadIdx.x; first < packs; first += kPacksInFlight * blockDim.x) {
    Stored loaded_y[kPacksInFlight];
    Stored loaded_dy[kPacksInFlight];
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      loaded_y[p] = load_stored<T, Count>(from_y, first + p * blockDim.x, cols);
      loaded_dy[p] = load_stored<T, Count>(from_dy, first + p * blockDim.x, cols);
    }
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      sum = sum_of_terms<kind>(widened(loaded_y[p]), widened(loaded_dy[p]), sum);
      if (first + p * blockDim.x < packs) {
        kept_y[first + p * blockDim.x] = loaded_y[p];
        kept_dy[first + p * blockDim.x] = loaded_dy[p];
      }
    }
  }
  sum = block_sum(sum, scratch);

  // A thread reads only what it wrote; the barrier is the sum's. It also lets dx be y or dy.
  for (std::int64_t p = threadIdx.x; p < packs; p += blockDim.x)
    store_pack<T, Count>(dx + blockIdx.x * dx_stride, p, cols,
                         gradients<kind>(widened(kept_y[p]), widened(kept_dy[p]), sum));
}

template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads)
    block_two_reads(const T* y, std::int64_t y_stride, const T* dy, std::int64_t dy_stride, T* dx,
                    std::int64_t dx_stride, std::int64_t cols) {
  float* scratch = dynamic_shared<float>();
  const std::int64_t packs = (cols + Count - 1) / Count;
  const T* from_y = y + blockIdx.x * y_stride;
  const T* from_dy = dy + blockIdx.x * dy_stride;

  float sum = 0;
  for (std::int64_t first = threadIdx.x; first < packs; first += kPacksInFlight * blockDim.x) {
    Floats<Count> loaded_y[kPacksInFlight];
    Floats<Count> loaded_dy[kPacksInFlight];
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      loaded_y[p] = load_pack<T, Count>(from_y, first + p * blockDim.x, cols, 0.0f);
      loaded_dy[p] = load_pack<T, Count>(from_dy, first + p * blockDim.x, cols, 0.0f);
    }
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p)
      sum = sum_of_terms<kind>(loaded_y[p], loaded_dy[p], sum);
  }
  sum = block_sum(sum, scratch);

  for (std::int64_t p = threadIdx.x; p < packs; p += blockDim.x) {
    const Floats<Count> again_y = load_pack<T, Count>(from_y, p, cols, 0.0f);
    const Floats<Count> again_dy = load_pack<T, Count>(from_dy, p, cols, 0.0f);
    store_pack<T, Count>(dx + blockIdx.x * dx_stride, p, cols,
                         gradients<kind>(again_y, again_dy, sum));
  }
}

} // namespace kg::softmax_backward
