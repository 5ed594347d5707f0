// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of a window's elements.
#pragma once

#include "primitives/row.h"
#include "primitives/warp.h"

#include <limits>

namespace kg::pooling {

// A NaN is kept once it has come; fmaxf would pass over it.
struct Max {
  static constexpr float kIdentity = -std::numeric_limits<float>::infinity();
  __device__ static float combine(float most, float value) {
    return value > most || value != value ? value : most;
  }
  __device__ static float finish(float most, std::int64_t) { return most; }
};

// The division, not a product with the reciprocal: of an exact sum it gives the correctly rounded
// average, and it is one per output. No taps give 0.
struct Average {
  static constexpr float kIdentity = 0;
  __device__ static float combine(float sum, float value) { return sum + value; }
  __device__ static float finish(float sum, std::int64_t taps) {
    return taps > 0 ? sum / static_cast<float>(taps) : 0.0f;
  }
};

template <class Reduce, int Count>
__device__ __forceinline__ Floats<Count> identity() {
  Floats<Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) result.value[e] = Reduce::kIdentity;
  return result;
}

template <class Reduce, int Count>
__device__ inline void combine(Floats<Count>& result, const Floats<Count>& values) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    result.value[e] = Reduce::combine(result.value[e], values.value[e]);
}

} // namespace kg::pooling
