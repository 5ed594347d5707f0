// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exponentials of differences to a row's maximum, as accurate as results of type T require.
//
// For 16-bit results exp(d) = 2^(d log2 e) takes two instructions instead of eight. Rounding the
// product adds a relative error of |d| u, as much as rounding the difference itself; both are a
// hundredth of the rounding to T.
#pragma once

#include "instructions/exp2.h"
#include "runtime/device_code.h"

namespace kg {

inline constexpr float kLog2E = 1.44269504F;
template <class T>
inline constexpr bool kShortExp = sizeof(T) < sizeof(float);

// exp(d), d <= 0, as a term of a sum. For 16-bit T, terms below 2^-126 become 0.
template <class T>
__device__ __forceinline__ float exp_of_sum(float d) {
  return kShortExp<T> ? ptx::exp2_flushed(d * kLog2E) : expf(d);
}

// exp(d) / kExpUnit<T>, d <= 0, for a result. For 16-bit T it is scaled by 2^16, so that it is not
// flushed to 0 if its product with the unit is a subnormal of T.
template <class T>
inline constexpr float kExpUnit = kShortExp<T> ? 0x1p-16F : 1.0F;
template <class T>
__device__ __forceinline__ float exp_in_units(float d) {
  return kShortExp<T> ? ptx::exp2_flushed(fmaf(d, kLog2E, 16)) : expf(d);
}

} // namespace kg
