// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Access to a row of `cols` elements in packs of Count, converted to f32. Count is 16 bytes if the
// row's alignment permits, otherwise one element. A pack beyond the end of the row is padded when
// loaded and truncated when stored.
#pragma once

#include "primitives/stored_pack.h"

namespace kg {

// Pack number `pack` of the row. To load several packs, use stored_pack.h: this function would
// serialize the loads.
template <class T, int Count>
__device__ __forceinline__ Floats<Count> load_pack(const T* row, std::int64_t pack,
                                                   std::int64_t cols, float padding) {
  return widened(load_stored<T, Count>(row, pack, cols, from_float<T>(padding)));
}

// wide: prevents nvcc from splitting the store (store_wide). streamed: the data is not read again
// soon.
enum class Store { plain, wide, streamed };

// Rounds once to T.
template <class T, int Count, Store store = Store::plain>
__device__ inline void store_pack(T* row, std::int64_t pack, std::int64_t cols,
                                  const Floats<Count>& values) {
  const std::int64_t first = pack * Count;
  if (first + Count <= cols) {
    Pack<T, Count> raw;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) raw.element[e] = from_float<T>(values.value[e]);
    auto* const to = reinterpret_cast<Pack<T, Count>*>(row + first);
    if constexpr (store == Store::streamed)
      store_streaming(to, raw);
    else if constexpr (store == Store::wide)
      store_wide(to, raw);
    else
      *to = raw;
  } else {
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      if (first + e < cols) row[first + e] = from_float<T>(values.value[e]);
  }
}

} // namespace kg
