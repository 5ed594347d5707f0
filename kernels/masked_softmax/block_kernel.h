// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masked softmax with one block per row, the row in shared memory as f32: one read and one write
// per element and a byte of the mask; for rows that ring_kernel.h does not take, since they are not
// aligned or have more than 64 KiB. Why no kernel that reads longer rows again: scores of 58,000
// keys and more are what fused attention exists for; clusters do them, and naive where there are
// none.
#pragma once

#include "masked_softmax/row_access.h"
#include "primitives/block.h"
#include "primitives/shared_row.h"

namespace kg::masked_softmax {

// At the start of dynamic shared memory, before the row: a maximum and a sum per warp.
inline constexpr int kScratchFloats = 2 * kMaxWarps;
// Packs that a thread loads before it uses the first one. With four of x and of the mask, each 8
// elements wide, 64 registers do not suffice. Single elements, of rows that have no packs, are few
// bytes each.
template <int Count>
inline constexpr int kPacksInFlight = Count == 1 ? 4 : 2;

template <Form form, class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads) block_per_row(Problem<T> problem) {
  float* scratch = dynamic_shared<float>();
  const Row<T> row = problem.template row<form>(blockIdx.x);
  const std::int64_t packs = (row.cols + Count - 1) / Count;
  SharedRow<Count> held(scratch + kScratchFloats, packs);

  float largest = kMasked; // fmaxf passes over NaN; the sum does not
  for (std::int64_t first = threadIdx.x; first < packs;
       first += kPacksInFlight<Count> * blockDim.x) {
    using Stored = MaskedPack<form, T, Count>;
    Stored stored[kPacksInFlight<Count>];
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight<Count>; ++p)
      stored[p] = Stored::load(row, first + p * blockDim.x);
    loaded(stored);
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight<Count>; ++p) {
      const Floats<Count> values = stored[p].values();
      KG_UNROLL
      for (int e = 0; e < Count; ++e) largest = fmaxf(largest, values.value[e]);
      if (first + p * blockDim.x < packs) held.put(first + p * blockDim.x, values);
    }
  }
  largest = block_max(largest, scratch);
  const float reference = reference_of(largest, problem.scale);

  float sum = 0;
  for (std::int64_t p = threadIdx.x; p < packs; p += blockDim.x) {
    Floats<Count> values = held.get(p);
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      values.value[e] = exponential(values.value[e], problem.scale, reference);
      sum += values.value[e];
    }
    held.put(p, values);
  }
  const float by = normalizer(block_sum(sum, scratch + kMaxWarps), largest);

  for (std::int64_t p = threadIdx.x; p < packs; p += blockDim.x) {
    Floats<Count> values = held.get(p);
    KG_UNROLL
    for (int e = 0; e < Count; ++e) values.value[e] *= by;
    store_pack<T, Count>(row.y, p, row.cols, values);
  }
}

} // namespace kg::masked_softmax
