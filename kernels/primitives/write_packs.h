// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A packed array that is written in 16-byte packs wherever its rows end: every store but those of
// the array's two ends is aligned.
#pragma once

#include "primitives/map.h"

#include <cstdint>

namespace kg {

// `to` becomes an array of `size` elements of which `head` lie before its first pack boundary.
// load(i) fetches what the pack that begins at element i is made of, finish(that) makes the pack,
// element(i) a single element. A thread loads for Packs packs before it stores the first one,
// because the compiler must not move a load over a store that may alias it. Blocks of kMapThreads;
// map_grid says how many.
template <int Packs, class T, class Load, class Finish, class Element>
__device__ inline void write_packs(T* to, std::int64_t size, int head, Load load, Finish finish,
                                   Element element) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kTile = kMapThreads * Packs;
  const std::int64_t packs = (size - head) / kCount;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
  std::int64_t tile_end = static_cast<std::int64_t>(blockIdx.x + 1) * kTile;
  const auto index_of = [head](std::int64_t number) { return head + number * kCount; };
  // Named before they are stored: g++ does not instrument what a call leaves in memory as a class.
  const auto store = [&](std::int64_t number, const auto& loaded) {
    const Pack<T, kCount> pack = finish(loaded);
    *reinterpret_cast<Pack<T, kCount>*>(to + index_of(number)) = pack;
  };

  for (; tile_end <= packs; first += step, tile_end += step) {
    decltype(load(first)) loaded[Packs];
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) loaded[p] = load(index_of(first + p * kMapThreads));
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) store(first + p * kMapThreads, loaded[p]);
  }
  // The last tile, not full: the block whose turn it is finds `first` in range.
  for (; first < packs && first < tile_end; first += kMapThreads)
    store(first, load(index_of(first)));

  // Head and tail by the last block, which has the shortest way through the loop above.
  if (blockIdx.x + 1 == gridDim.x) {
    const std::int64_t body = packs * kCount;
    const int edge = static_cast<int>(size - body);
    const int i = static_cast<int>(threadIdx.x);
    if (i < edge) {
      const std::int64_t index = i < head ? i : body + i;
      const T single = element(index);
      to[index] = single;
    }
  }
}

} // namespace kg
