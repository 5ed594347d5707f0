// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the elements of a window are reduced. `first` combines the identity with an element. Finish
// turns the combined value into the result, for all windows of a thread with the same number of
// taps. With kShares, kernels combine values that shared() or shared_row() computes from the
// elements and the taps counted from each on (ops/pooling_backward/shares.h).
#pragma once

#include "instructions/max_nan.h"
#include "primitives/integer_divisor.h"
#include "primitives/row.h"
#include "primitives/warp.h"

#include <limits>

namespace kg::pooling {

// NaN propagates; fmaxf would ignore it.
struct Max {
  static constexpr bool kShares = false;
  static constexpr float kIdentity = -std::numeric_limits<float>::infinity();
  __device__ static float first(float value) { return value; }
  __device__ static float combine(float most, float value) { return ptx::max_nan(most, value); }
  struct Finish {
    template <class Whole>
    __device__ explicit Finish(Whole) {}
    __device__ float operator()(float most) const { return most; }
  };
};

// The average is correctly rounded if the sum is exact (WholeDivisor). No taps give 0.
struct Average {
  static constexpr bool kShares = false;
  static constexpr float kIdentity = 0;
  __device__ static float first(float value) { return kIdentity + value; } // turns -0 into +0
  __device__ static float combine(float sum, float value) { return sum + value; }
  struct Finish {
    WholeDivisor taps;
    template <class Whole>
    __device__ explicit Finish(Whole count) : taps(count > 0 ? static_cast<float>(count) : 1.0f) {}
    __device__ float operator()(float sum) const { return taps.quotient(sum); }
  };
};

template <class Reduce, int Count>
__device__ __forceinline__ Floats<Count> identity() {
  Floats<Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) result.value[e] = Reduce::kIdentity;
  return result;
}

template <class Reduce, int Count>
__device__ __forceinline__ Floats<Count> first(Floats<Count> values) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) values.value[e] = Reduce::first(values.value[e]);
  return values;
}

template <class Reduce, int Count>
__device__ inline void combine(Floats<Count>& result, const Floats<Count>& values) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    result.value[e] = Reduce::combine(result.value[e], values.value[e]);
}

} // namespace kg::pooling
