// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Softmax of rows of at most kWarpMaxCols elements: one warp per row, held in its registers.
//
// Bytes: one read and one write per element; two butterflies of five shuffles per row. Expected on
// an H200: 90% of copy bandwidth from 512 columns on. Shorter rows leave lanes idle and too few
// bytes in flight. Why not one block per row: two barriers for 4 KiB of data, and most of its
// threads would have nothing to load.
#pragma once

#include "ops/softmax/row_access.h"
#include "primitives/warp.h"

namespace kg::softmax {

inline constexpr int kRowsPerBlock = 4; // one warp each

// Each lane holds Packs packs of Count elements, 32 packs apart, so that a warp's loads are
// contiguous.
template <Kind kind, class T, int Count, int Packs>
__global__ void __launch_bounds__(kRowsPerBlock* kLanes)
    warp_per_row(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride, std::int64_t rows,
                 std::int64_t cols) {
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kLanes;
  if (row >= rows) return; // the whole warp
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const T* from = x + row * x_stride;
  T* to = y + row * y_stride;

  StoredPack<T, Count> stored[Packs];
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) stored[p] = load<T, Count>(from, p * kLanes + lane, cols);
  Floats<Count> held[Packs];
  widen(stored, held);

  // fmaxf ignores NaN; the sum propagates it.
  float maximum = kPadding;
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) maximum = largest(held[p], maximum);
  maximum = warp_max(maximum);

  // A maximum of -inf or +inf makes its own term NaN here, and therefore the row's sum.
  float sum = 0;
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      const float difference = held[p].value[e] - maximum;
      const float exponential = expf(difference);
      sum += exponential;
      held[p].value[e] = kind == Kind::softmax ? exponential : difference;
    }
  }
  const float by = normalizer<kind>(warp_sum(sum));

  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) held[p].value[e] = normalized<kind>(held[p].value[e], by);
    store_pack<T, Count>(to, p * kLanes + lane, cols, held[p]);
  }
}

} // namespace kg::softmax
