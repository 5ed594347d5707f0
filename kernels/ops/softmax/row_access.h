// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the softmax kernels do with a row.
#pragma once

#include "ops/softmax/kind.h"
#include "primitives/exponential.h"
#include "primitives/largest.h"
#include "primitives/row.h"

#include <limits>

namespace kg::softmax {

// What stands where a row has ended: the neutral element of the maximum, and its exponential, 0,
// that of the sum.
inline constexpr float kPadding = -std::numeric_limits<float>::infinity();

template <class T, int Count>
__device__ __forceinline__ StoredPack<T, Count> load(const T* row, std::int64_t pack,
                                                     std::int64_t cols) {
  return load_stored<T, Count>(row, pack, cols, from_float<T>(kPadding));
}

// The last steps. Softmax makes exp(x - m) of an element and multiplies it by 1 / sum; log-softmax
// keeps x - m and subtracts log(sum). Not the logarithm of a rounded quotient, which is -inf where
// that is 0; and not x - (m + log(sum)), whose rounding would grow with |m|.
template <Kind kind, class T = float>
__device__ inline float kept(float difference) {
  return kind == Kind::softmax ? exp_in_units<T>(difference) : difference;
}

template <Kind kind, class T = float>
__device__ inline float normalizer(float sum) {
  return kind == Kind::softmax ? kExpUnit<T> / sum : logf(sum);
}

template <Kind kind>
__device__ inline float normalized(float kept, float normalizer) {
  return kind == Kind::softmax ? kept * normalizer : kept - normalizer;
}

// Both of a pack: results of elements as floats, less `reference`, by that normalizer.
template <Kind kind, class T, int Count>
__device__ __forceinline__ Pack<T, Count> finished(const Floats<Count>& values, float reference,
                                                   float by) {
  Pack<T, Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    result.element[e] =
        from_float<T>(normalized<kind>(kept<kind, T>(values.value[e] - reference), by));
  return result;
}

} // namespace kg::softmax
