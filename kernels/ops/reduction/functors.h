// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The functors of the reduction kernels. A functor has an Accumulator, its identity, `from`
// (converts an element and its index on the axis), `combine` (of two Accumulators) and `finish`,
// which makes the result. If two launches are needed, the first uses the functor `partial` and
// stores Accumulators, which are the elements of the second.
#pragma once

#include "runtime/device_code.h"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace kg::reduction {

// A: float, or unsigned for sums of i32 modulo 2^32.
template <class A>
struct Sum {
  using Accumulator = A;
  float divisor = 1; // the extent for a mean

  Sum partial() const { return {}; }
  __device__ static A identity() { return 0; }
  __device__ static A combine(A a, A b) { return a + b; }
  template <class T>
  __device__ __forceinline__ A from(T element, std::int64_t) const {
    if constexpr (std::is_same_v<A, float>)
      return to_float(element);
    else
      return static_cast<A>(element);
  }
  template <class T>
  __device__ __forceinline__ T finish(A sum) const {
    if constexpr (std::is_same_v<A, float>)
      return from_float<T>(sum / divisor);
    else
      return static_cast<T>(sum);
  }
};

// The maximum. The minimum is the negated maximum of the negated elements, so one kernel serves
// both. Not fmaxf, which ignores NaN.
struct Extremum {
  using Accumulator = float;
  float sign = 1; // -1 for the minimum

  Extremum partial() const { return *this; }
  __device__ static float identity() { return -INFINITY; }
  __device__ static float combine(float a, float b) { return b > a || b != b ? b : a; }
  template <class T>
  __device__ __forceinline__ float from(T element, std::int64_t) const {
    return sign * to_float(element);
  }
  template <class T>
  __device__ __forceinline__ T finish(float value) const {
    return from_float<T>(sign * value);
  }
};

} // namespace kg::reduction
