// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A walk over numbered pieces of work, tile by tile, for kernels that move packs whose places they
// compute (map.h has the walk over plain arrays).
#pragma once

#include "primitives/map.h"

#include <cstdint>

namespace kg {

// The numbers from 0 to count - 1, each once, by blocks of kMapThreads, of which map_grid says how
// many: load(number) fetches, store(number, that) finishes. A thread loads for Loads numbers before
// it stores the first one, because the compiler must not move a load over a store that may alias
// it.
template <int Loads, class Load, class Store>
__device__ inline void walk_tiles(std::int64_t count, Load load, Store store) {
  constexpr int kTile = kMapThreads * Loads;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
  std::int64_t tile_end = static_cast<std::int64_t>(blockIdx.x + 1) * kTile;

  for (; tile_end <= count; first += step, tile_end += step) {
    decltype(load(first)) loaded[Loads];
    KG_UNROLL
    for (int l = 0; l < Loads; ++l) loaded[l] = load(first + l * kMapThreads);
    KG_UNROLL
    for (int l = 0; l < Loads; ++l) store(first + l * kMapThreads, loaded[l]);
  }
  // The last tile, not full: the block whose turn it is finds `first` in range.
  for (; first < count && first < tile_end; first += kMapThreads) store(first, load(first));
}

} // namespace kg
