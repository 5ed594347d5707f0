// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal adjacent words, and where they begin.
#pragma once

#include "primitives/field_bits.h"
#include "primitives/pack_rows.h"
#include "primitives/scan.h"

#include <cstdint>

namespace kg {

// Whether element i begins a run.
template <class Word>
__device__ __forceinline__ bool begins_run(const Word* x, std::int64_t i) {
  if (i == 0) return true;
  const Word before = x[i - 1];
  const Word own = x[i];
  return before != own;
}

// The word before a warp's packs (pack_rows.h), loaded by its first lane. `first`: the index of the
// lane's first element among the n at x. Issue this load before using the packs.
template <class Word>
__device__ __forceinline__ Word before_warp(const Word* x, std::int64_t first, std::int64_t n) {
  return threadIdx.x % kLanes == 0 && first > 0 && first < n ? x[first - 1] : Word{0};
}

// One bit per element of the lane's packs that begins a run. `before`: from before_warp(). All
// lanes must call, since the word before a pack comes from a neighbouring lane.
template <int Rows, int Count, class Word>
__device__ __forceinline__ void find_runs(Word before, std::int64_t first, std::int64_t n,
                                          const StoredPack<Word, Count> (&pack)[Rows],
                                          unsigned (&begins)[Rows]) {
  const unsigned lane = threadIdx.x % kLanes;
  const auto below = static_cast<int>((lane + kLanes - 1) % kLanes);
  PackEnd<Word> row_before = end_with(before);
  KG_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const PackEnd<Word> end = shuffled_from(end_of(pack[r]), below);
    begins[r] = changes_of(pack[r], lane == 0 ? row_before : end);
    row_before = end; // of the first lane
  }
  if (first == 0) begins[0] |= 1u;
  const std::int64_t left = n - first;
  if (left >= (Rows - 1) * kRowStep<Count> + Count) return;
  KG_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const std::int64_t of_pack = left - r * kRowStep<Count>;
    if (of_pack < Count) begins[r] &= of_pack > 0 ? (1u << of_pack) - 1 : 0;
  }
}

} // namespace kg
