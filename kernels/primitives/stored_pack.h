// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Packs in the type in which they are stored, for kernels that keep a row in shared memory: two
// bytes per element of f16 and bf16, not four.
#pragma once

#include "primitives/row.h"

namespace kg {

// Pack number `pack` of a row of `cols` elements, zeros behind its end.
template <class T, int Count>
__device__ __forceinline__ Pack<T, Count> load_stored(const T* row, std::int64_t pack,
                                                      std::int64_t cols) {
  const std::int64_t first = pack * Count;
  if (first + Count <= cols) return *reinterpret_cast<const Pack<T, Count>*>(row + first);
  Pack<T, Count> result{};
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    if (first + e < cols) result.element[e] = row[first + e];
  return result;
}

// By value: a pack in memory is then read in one access, not element by element.
template <class T, int Count>
__device__ __forceinline__ Floats<Count> widened(Pack<T, Count> stored) {
  Floats<Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) result.value[e] = to_float(stored.element[e]);
  return result;
}

} // namespace kg
