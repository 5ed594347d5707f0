// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a contiguous array in 16-byte packs across row boundaries. Every store is aligned except
// at the two ends of the array.
#pragma once

#include "primitives/tile_walk.h"

#include <cstdint>

namespace kg {

// Writes `size` elements to `to`, `head` of which precede its first pack boundary. load(i) loads
// the inputs of the pack that starts at element i, finish(inputs) returns the pack, and element(i)
// returns a single element. Loads: as in walk_tiles.
template <int Loads, class T, class Load, class Finish, class Element>
__device__ inline void write_packs(T* to, std::int64_t size, int head, Load load, Finish finish,
                                   Element element) {
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = (size - head) / kCount;
  const auto index_of = [head](std::int64_t number) { return head + number * kCount; };
  walk_tiles<Loads>(
      packs, [&](std::int64_t number) { return load(index_of(number)); },
      [&](std::int64_t number, const auto& loaded) {
        // A named variable, because g++ does not instrument a class returned in memory.
        const Pack<T, kCount> pack = finish(loaded);
        store_wide(reinterpret_cast<Pack<T, kCount>*>(to + index_of(number)), pack);
      });

  // Head and tail by the last block, which has the least work in the loop.
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
