// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients with one block per row, for rows of any length.
//
// block_in_shared keeps y and dy in shared memory in their stored type: two reads and one write per
// element. Expected on an H200: 85 to 90% of copy bandwidth while two blocks share a
// multiprocessor, up to 14,000 columns of f32 and 28,000 of f16 and bf16. block_two_reads is for
// rows that do not fit. It reads them again for the results, from L2 if the rows in flight fit
// there. On devices with clusters, cluster_kernel.h reads such rows once. Why not f32 in shared
// memory, as in the forward kernel: the forward kernel keeps results between its passes, but this
// one keeps inputs, which lose nothing in their own type, and rows of twice the length fit.
#pragma once

#include "ops/softmax_backward/gradient.h"
#include "primitives/block.h"
#include "primitives/stored_pack.h"

namespace kg::softmax_backward {

// At the start of dynamic shared memory, before the row: one sum per warp.
inline constexpr int kScratchFloats = kMaxWarps;
// Packs of each input that a thread loads before it uses the first one.
inline constexpr int kPacksInFlight = 2;

template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads)
    block_in_shared(const T* y, std::int64_t y_stride, const T* dy, std::int64_t dy_stride, T* dx,
                    std::int64_t dx_stride, std::int64_t cols) {
  using Stored = StoredPack<T, Count>;
  float* scratch = dynamic_shared<float>();
  const std::int64_t packs = (cols + Count - 1) / Count;
  auto* kept_y = reinterpret_cast<Stored*>(scratch + kScratchFloats);
  Stored* kept_dy = kept_y + packs;
  const T* from_y = y + blockIdx.x * y_stride;
  const T* from_dy = dy + blockIdx.x * dy_stride;

  float sum = 0;
  for (std::int64_t first = threadIdx.x; first < packs; first += kPacksInFlight * blockDim.x) {
    Stored stored_y[kPacksInFlight];
    Stored stored_dy[kPacksInFlight];
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      stored_y[p] = load_stored<T, Count>(from_y, first + p * blockDim.x, cols);
      stored_dy[p] = load_stored<T, Count>(from_dy, first + p * blockDim.x, cols);
    }
    loaded(stored_y);
    loaded(stored_dy);
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      sum = sum_of_terms<kind>(widened(stored_y[p]), widened(stored_dy[p]), sum);
      if (first + p * blockDim.x < packs) {
        kept_y[first + p * blockDim.x] = stored_y[p];
        kept_dy[first + p * blockDim.x] = stored_dy[p];
      }
    }
  }
  sum = block_sum(sum, scratch);

  // A thread reads only what it wrote; the only barrier is block_sum's. It also lets dx be y or dy.
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

  // Single elements, for rows without packs, are few bytes each.
  constexpr int kInFlight = Count == 1 ? 4 * kPacksInFlight : kPacksInFlight;
  float sum = 0;
  for (std::int64_t first = threadIdx.x; first < packs; first += kInFlight * blockDim.x) {
    StoredPack<T, Count> stored_y[kInFlight];
    StoredPack<T, Count> stored_dy[kInFlight];
    KG_UNROLL
    for (int p = 0; p < kInFlight; ++p) {
      stored_y[p] = load_stored<T, Count>(from_y, first + p * blockDim.x, cols);
      stored_dy[p] = load_stored<T, Count>(from_dy, first + p * blockDim.x, cols);
    }
    loaded(stored_y);
    loaded(stored_dy);
    KG_UNROLL
    for (int p = 0; p < kInFlight; ++p)
      sum = sum_of_terms<kind>(widened(stored_y[p]), widened(stored_dy[p]), sum);
  }
  sum = block_sum(sum, scratch);

  for (std::int64_t p = threadIdx.x; p < packs; p += blockDim.x) {
    StoredPack<T, Count> again[] = {load_stored<T, Count>(from_y, p, cols),
                                    load_stored<T, Count>(from_dy, p, cols)};
    loaded(again);
    store_pack<T, Count>(dx + blockIdx.x * dx_stride, p, cols,
                         gradients<kind>(widened(again[0]), widened(again[1]), sum));
  }
}

} // namespace kg::softmax_backward
