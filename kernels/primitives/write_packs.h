// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A packed array that is written in 16-byte packs wherever its rows end: every store but those of
// the array's two ends is aligned.
#pragma once

#include "primitives/tile_walk.h"

#include <cstdint>

namespace kg {

// `to` becomes an array of `size` elements of which `head` lie before its first pack boundary.
// load(i) fetches what the pack that begins at element i is made of, finish(that) makes the pack,
// element(i) a single element. For Loads as in walk_tiles.
template <int Loads, class T, class Load, class Finish, class Element>
__device__ inline void write_packs(T* to, std::int64_t size, int head, Load load, Finish finish,
                                   Element element) {
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = (size - head) / kCount;
  const auto index_of = [head](std::int64_t number) { return head + number * kCount; };
  walk_tiles<Loads>(
      packs, [&](std::int64_t number) { return load(index_of(number)); },
      [&](std::int64_t number, const auto& loaded) {
        // Named before it is stored: g++ does not instrument what a call leaves in memory as a
        // class.
        const Pack<T, kCount> pack = finish(loaded);
        store_wide(reinterpret_cast<Pack<T, kCount>*>(to + index_of(number)), pack);
      });

  // Head and tail by the last block, which has the shortest way through the walk.
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
