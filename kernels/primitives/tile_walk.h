// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A grid-stride loop over numbered work items, for kernels that compute the addresses of their
// packs; map.h has the loop over plain arrays.
#pragma once

#include "primitives/map.h"

#include <cstdint>

namespace kg {

// Calls store(number, load(number)) once for each number below `count`, in blocks of kMapThreads
// threads (map_grid() gives the grid). A thread issues Loads loads before the first store, because
// the compiler cannot move a load across a store that may alias.
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
  // The last, partial tile: only one block finds `first` in range.
  for (; first < count && first < tile_end; first += kMapThreads) store(first, load(first));
}

} // namespace kg
