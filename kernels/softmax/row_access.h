// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the softmax kernels do with a row.
#pragma once

#include "primitives/row.h"
#include "ptx/exp2.h"
#include "softmax/kind.h"

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

template <int Count>
__device__ inline float largest(const Floats<Count>& values, float start) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) start = fmaxf(start, values.value[e]);
  return start;
}

// exp(difference) in few instructions, as a term of a sum for results of type T. Of 16 bits by a
// power of two: the product with log2(e) is rounded, by which the term errs as much as by the
// rounding of the difference, |difference| u; both are a hundredth of what storing T rounds off.
// Terms below 2^-126 add nothing.
inline constexpr float kLog2E = 1.44269504F;
template <class T>
__device__ inline float term(float difference) {
  return sizeof(T) == sizeof(float) ? expf(difference) : ptx::exp2_flushed(difference * kLog2E);
}

// The last steps. Softmax makes exp(x - m) of an element and multiplies it by 1 / sum; log-softmax
// keeps x - m and subtracts log(sum). Not the logarithm of a rounded quotient, which is -inf where
// that is 0; and not x - (m + log(sum)), whose rounding would grow with |m|.
//
// For results of 16 bits, too, by a power of two, here 2^16 times as large: so it is not taken for
// 0 where the result is not.
template <Kind kind, class T = float>
__device__ inline float kept(float difference) {
  if (kind != Kind::softmax) return difference;
  return sizeof(T) == sizeof(float) ? expf(difference)
                                    : ptx::exp2_flushed(fmaf(difference, kLog2E, 16));
}

template <Kind kind, class T = float>
__device__ inline float normalizer(float sum) {
  if (kind != Kind::softmax) return logf(sum);
  return (sizeof(T) == sizeof(float) ? 1.0f : 0x1p-16f) / sum;
}

template <Kind kind>
__device__ inline float normalized(float kept, float normalizer) {
  return kind == Kind::softmax ? kept * normalizer : kept - normalizer;
}

} // namespace kg::softmax
