// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maximum over a pack and a start value. Ignores NaN, as fmaxf does.
#pragma once

#include "primitives/stored_pack.h"

#include <cstring>
#include <type_traits>

namespace kg {

template <int Count>
__device__ inline float largest(const Floats<Count>& values, float start) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) start = fmaxf(start, values.value[e]);
  return start;
}

// The same for a stored pack; 16-bit types are compared in pairs.
template <class T, int Count>
__device__ __forceinline__ float greatest(const StoredPack<T, Count>& stored, float start) {
  if constexpr (sizeof(T) == 2 && Count % 2 == 0) {
    using Pair = std::conditional_t<std::is_same_v<T, bf16>, __nv_bfloat162, __half2>;
    const Pack<T, Count> pack = stored.pack();
    Pair pairs[Count / 2];
    memcpy(pairs, &pack, sizeof pairs);
    KG_UNROLL
    for (int p = 1; p < Count / 2; ++p) pairs[0] = __hmax2(pairs[0], pairs[p]);
    return fmaxf(fmaxf(start, to_float(pairs[0].x)), to_float(pairs[0].y));
  } else {
    return largest(widened(stored), start);
  }
}

} // namespace kg
