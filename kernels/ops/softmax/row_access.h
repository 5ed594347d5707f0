// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads and arithmetic that the softmax kernels share.
#pragma once

#include "ops/softmax/kind.h"
#include "primitives/exponential.h"
#include "primitives/largest.h"
#include "primitives/row.h"

#include <limits>

namespace kg::softmax {

// Padding beyond the end of a row: neutral for the maximum; its exponential, 0, is neutral for the
// sum.
inline constexpr float kPadding = -std::numeric_limits<float>::infinity();

template <class T, int Count>
__device__ __forceinline__ StoredPack<T, Count> load(const T* row, std::int64_t pack,
                                                     std::int64_t cols) {
  return load_stored<T, Count>(row, pack, cols, from_float<T>(kPadding));
}

// The last steps. Softmax computes exp(x - m) and multiplies it by 1 / sum; log-softmax keeps x - m
// and subtracts log(sum). The logarithm of a rounded quotient would be -inf if the quotient is 0.
// The rounding of x - (m + log(sum)) would grow with |m|.
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

// Both steps for a pack: subtracts `reference` and applies the normalizer `by`.
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
