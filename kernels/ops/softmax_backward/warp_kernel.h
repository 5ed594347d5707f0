// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of rows of at most kWarpMaxCols elements: one warp per row, y and dy in its registers.
//
// Bytes: two reads and one write per element; one butterfly of five shuffles per row. Expected on
// an H200: 90% of copy bandwidth from 512 columns on. A lane holds up to 64 floats, all in flight
// before it uses the first, so few warps saturate memory. Why not one block per row: a barrier for
// 8 KiB of data, and most threads would have nothing to load.
#pragma once

#include "ops/softmax_backward/gradient.h"
#include "primitives/warp.h"

namespace kg::softmax_backward {

inline constexpr int kRowsPerBlock = 4; // one warp each

// Each lane holds Packs packs of Count elements of each input, 32 packs apart, so that a warp's
// loads are contiguous. Elements beyond the row's end are 0 and add nothing.
template <Kind kind, class T, int Count, int Packs>
__global__ void __launch_bounds__(kRowsPerBlock* kLanes)
    warp_per_row(const T* y, std::int64_t y_stride, const T* dy, std::int64_t dy_stride, T* dx,
                 std::int64_t dx_stride, std::int64_t rows, std::int64_t cols) {
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kLanes;
  if (row >= rows) return; // the whole warp
  const int lane = static_cast<int>(threadIdx.x) % kLanes;

  StoredPack<T, Count> stored_y[Packs];
  StoredPack<T, Count> stored_dy[Packs];
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    stored_y[p] = load_stored<T, Count>(y + row * y_stride, p * kLanes + lane, cols);
    stored_dy[p] = load_stored<T, Count>(dy + row * dy_stride, p * kLanes + lane, cols);
  }
  Floats<Count> held_y[Packs];
  Floats<Count> held_dy[Packs];
  widen(stored_y, held_y);
  widen(stored_dy, held_dy);
  float sum = 0;
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) sum = sum_of_terms<kind>(held_y[p], held_dy[p], sum);
  sum = warp_sum(sum);
  KG_UNROLL
  for (int p = 0; p < Packs; ++p)
    store_pack<T, Count>(dx + row * dx_stride, p * kLanes + lane, cols,
                         gradients<kind>(held_y[p], held_dy[p], sum));
}

} // namespace kg::softmax_backward
