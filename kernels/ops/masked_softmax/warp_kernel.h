// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax of rows of at most kWarpMaxCols elements: one warp per row, held in its registers.
//
// Bytes: one read and one write per element and a byte of the mask; packs hidden by a causal mask
// are not read. Two butterflies of five shuffles per row. Expected on an H200: 85% of copy
// bandwidth from 512 columns on, a little below softmax: a lane's part of the mask is 4 or 8 bytes,
// not 16. Why not the mask as bits: callers have bytes.
//
// A causal mask of a square leaves 3 KiB to move per row of 1,024 16-bit elements, in which time an
// H200 issues 756 instructions. With 646 instructions, and branches around hidden packs that tested
// each of their elements, the kernel reached 0.76 of copy bandwidth. With about 580 it reaches
// 0.97: packs hidden from all lanes are neither converted nor exponentiated.
#pragma once

#include "instructions/opaque.h"
#include "ops/masked_softmax/row_access.h"
#include "primitives/row.h"
#include "primitives/warp.h"

namespace kg::masked_softmax {

inline constexpr int kRowsPerBlock = 4; // one warp each

// `to`, an address relative to the kernel's parameter `base`, which nvcc would recompute for each
// pack. Only the distance is made opaque: an opaque pointer might point to any memory.
template <class T>
__device__ __forceinline__ T* once(T* base, T* to) {
  std::int64_t distance = to - base;
  ptx::make_opaque(distance);
  return base + distance;
}

// Each lane holds Packs packs of Count elements, 32 packs apart, so that a warp's loads are
// contiguous.
template <Form form, class T, int Count, int Packs>
__global__ void __launch_bounds__(kRowsPerBlock* kLanes) warp_per_row(Problem<T> problem) {
  const std::int64_t index =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kLanes;
  if (index >= problem.rows) return; // the whole warp
  const Row<T> row = problem.template row<form>(index);
  constexpr int kStep = kLanes * Count;
  // The lane's pack p begins p * kStep elements after its first one.
  const unsigned lane = threadIdx.x % kLanes;
  const int first = static_cast<int>(lane) * Count;
  const int present = static_cast<int>(row.cols) - first;
  const int all_kept = static_cast<int>(row.kept);
  const int kept = all_kept - first;
  const T* const x = once(problem.x, row.x + first);
  T* const y = once(problem.y, row.y + first);
  const auto keep = [&](int p) {
    return form == Form::boolean ? row.keep + first + p * kStep : nullptr;
  };
  // Whether a causal mask hides pack p of all lanes, which then skip it. For single elements this
  // would take more branches than it saves.
  const auto is_hidden = [&](int p) {
    return form == Form::causal && Count > 1 && p * kStep >= all_kept;
  };

  using Stored = MaskedPack<form, T, Count>;
  Stored stored[Packs];
  if (Count > 1 && static_cast<int>(row.cols) % Count == 0) {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p)
      stored[p] = Stored::load_whole(x + p * kStep, keep(p), kept - p * kStep, present - p * kStep);
  } else {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) stored[p] = Stored::load(row, p * kLanes + lane);
  }
  loaded(stored);

  Floats<Count> held[Packs];
  float largest = kMasked; // fmaxf ignores NaN; the sum propagates it
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    if (is_hidden(p)) break;
    held[p] = stored[p].values();
    if (is_hidden(p + 1)) hide(held[p], kept - p * kStep);
    KG_UNROLL
    for (int e = 0; e < Count; ++e) largest = fmaxf(largest, held[p].value[e]);
  }
  largest = warp_max(largest);
  const float reference = reference_of(largest, problem.scale);

  // 0, or NaN if the scaled maximum is beyond f32's range.
  const float hidden = exponential(kMasked, problem.scale, reference);
  float sum = 0;
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) {
    if (is_hidden(p)) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) held[p].value[e] = hidden;
      continue;
    }
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
    store_pack<T, Count>(y, p * kLanes, present, held[p]);
  }
}

} // namespace kg::masked_softmax
