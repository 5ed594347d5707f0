// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp's rows of packs. Each row holds one pack of each of the 32 lanes side by side, so accesses
// are coalesced; rows are contiguous. Pointers point to the lane's first element; `left` elements
// of the array remain from there. `packs`: whether the pointer is aligned for packs.
#pragma once

#include "primitives/stored_pack.h"
#include "primitives/warp.h"

#include <cstdint>
#include <type_traits>

namespace kg {

template <int Count>
inline constexpr int kRowStep = kLanes* Count; // elements between packs of a lane

// Issues all loads before the first is used. Elements beyond the end are `rest`. Packed: Pack or
// StoredPack.
template <int Rows, template <class, int> class Packed, class T, int Count>
__device__ __forceinline__ void load_rows(const T* from, std::int64_t left, bool packs, T rest,
                                          Packed<T, Count> (&to)[Rows]) {
  constexpr int kStep = kRowStep<Count>;
  constexpr bool kStored = std::is_same_v<Packed<T, Count>, StoredPack<T, Count>>;
  if (packs && left >= Rows * kStep) {
    KG_UNROLL
    for (int r = 0; r < Rows; ++r) {
      if constexpr (kStored)
        to[r].load(from + r * kStep);
      else
        to[r] = *reinterpret_cast<const Pack<T, Count>*>(from + r * kStep);
    }
    return;
  }
  KG_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const auto fill = [&](Pack<T, Count>& part) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        part.element[e] = r * kStep + e < left ? from[r * kStep + e] : rest;
    };
    if constexpr (kStored) {
      Pack<T, Count> part;
      fill(part);
      to[r].set(part);
      to[r].keep_raw(); // otherwise nvcc unpacks the words in the other branch as well
    } else {
      fill(to[r]);
    }
  }
}

template <int Rows, int Count, class T>
__device__ __forceinline__ void store_rows(T* to, std::int64_t left, bool packs,
                                           const Pack<T, Count> (&from)[Rows]) {
  constexpr int kStep = kRowStep<Count>;
  if (packs && left >= Rows * kStep) {
    KG_UNROLL
    for (int r = 0; r < Rows; ++r)
      store_wide(reinterpret_cast<Pack<T, Count>*>(to + r * kStep), from[r]);
    return;
  }
  KG_UNROLL
  for (int r = 0; r < Rows; ++r) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      const T stored = from[r].element[e];
      if (r * kStep + e < left) to[r * kStep + e] = stored;
    }
  }
}

// One bit per nonzero element of a pack.
template <class T, int Count>
__device__ __forceinline__ unsigned bits_of(const Pack<T, Count>& pack) {
  unsigned bits = 0;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) bits |= (pack.element[e] != 0 ? 1u : 0u) << e;
  return bits;
}

// Whether the pointer is aligned for packs of Count elements.
template <int Count, class T>
bool lies_in_packs(const T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % (Count * sizeof(T)) == 0;
}

} // namespace kg
