// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exponentials of differences to a row's maximum, as accurate as results of type T need them.
//
// Of 16 bits they are powers of two, in two instructions instead of eight: the product with log2(e)
// is rounded, by which a result errs as much as by the rounding of the difference itself, |d| u;
// both are a hundredth of what storing it as T rounds off.
#pragma once

#include "instructions/exp2.h"
#include "runtime/device_code.h"

namespace kg {

inline constexpr float kLog2E = 1.44269504F;
template <class T>
inline constexpr bool kShortExp = sizeof(T) < sizeof(float);

// exp(d), d <= 0, as a term of a sum. Of 16 bits those below 2^-126 add nothing.
template <class T>
__device__ __forceinline__ float exp_of_sum(float d) {
  return kShortExp<T> ? ptx::exp2_flushed(d * kLog2E) : expf(d);
}

// exp(d) / kExpUnit<T>, d <= 0, for a result: of 16 bits 2^16 times as large, so that it is not
// taken for 0 where its product with the unit is a subnormal of T.
template <class T>
inline constexpr float kExpUnit = kShortExp<T> ? 0x1p-16F : 1.0F;
template <class T>
__device__ __forceinline__ float exp_in_units(float d) {
  return kShortExp<T> ? ptx::exp2_flushed(fmaf(d, kLog2E, 16)) : expf(d);
}

} // namespace kg
