// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax of rows of at most kWarpMaxCols elements: a warp per row, the row in its
// registers.
//
// Bytes: one read and one write per element and a byte of the mask; what a causal mask hides is not
// read. Two butterflies of five shuffles per row. Expected on an H200: 85% of a copy's rate from
// 512 columns on, a little below softmax: a lane's part of the mask is 4 or 8 bytes, not 16. Why
// not the mask as bits: callers have bytes.
#pragma once

#include "masked_softmax/row_access.h"
#include "primitives/warp.h"

namespace kg::masked_softmax {

inline constexpr int kRowsPerBlock = 4; // one warp each

// Each lane holds Packs packs of Count elements, 32 packs apart from one to the next, so that a
// warp's loads are contiguous.
template <Form form, class T, int Count, int Packs>
__global__ void __launch_bounds__(kRowsPerBlock* kLanes) warp_per_row(Problem<T> problem) {
  const std::int64_t index =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kLanes;
  if (index >= problem.rows) return; // the whole warp
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Row<T> row = problem.template row<form>(index);

  using Stored = MaskedPack<form, T, Count>;
  Stored stored[Packs];
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) stored[p] = Stored::load(row, p * kLanes + lane);
  loaded(stored);
  Floats<Count> held[Packs];
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) held[p] = stored[p].values();

  float largest = kMasked; // fmaxf passes over NaN; the sum does not
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) largest = fmaxf(largest, held[p].value[e]);
  }
  largest = warp_max(largest);
  const float reference = reference_of(largest, problem.scale);

  float sum = 0;
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      held[p].value[e] = exponential(held[p].value[e], problem.scale, reference);
      sum += held[p].value[e];
    }
  }
  const float by = normalizer(warp_sum(sum), largest);

  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) held[p].value[e] *= by;
    store_pack<T, Count>(row.y, p * kLanes + lane, row.cols, held[p]);
  }
}

} // namespace kg::masked_softmax
