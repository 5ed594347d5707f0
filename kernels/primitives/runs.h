// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of equal words that follow each other, and where they begin.
#pragma once

#include "primitives/pack_rows.h"

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

// A bit for each element of a lane's packs (pack_rows.h) that begins a run. The lane's first one is
// element `first` of the n at x.
template <int Rows, int Count, class Word>
__device__ __forceinline__ void find_runs(const Word* x, std::int64_t first, std::int64_t n,
                                          const Pack<Word, Count> (&element)[Rows],
                                          unsigned (&begins)[Rows]) {
  Word previous[Rows]; // what stands before each pack
  KG_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const std::int64_t at = first + r * kRowStep<Count>;
    previous[r] = at > 0 && at < n ? x[at - 1] : Word{0};
  }
  KG_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const std::int64_t at = first + r * kRowStep<Count>;
    begins[r] = 0;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      const Word before = e == 0 ? previous[r] : element[r].element[e - 1];
      const bool is_first = at + e == 0 || element[r].element[e] != before;
      if (at + e < n && is_first) begins[r] |= 1u << e;
    }
  }
}

} // namespace kg
