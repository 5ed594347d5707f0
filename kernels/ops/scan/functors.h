// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The operations that the kernels scan with: sums, of float, or of unsigned for i32 modulo 2^32,
// and maxima; for one segment or several. Each has a Value, its identity(), from() (an element and
// whether it begins a segment), combine() of two adjacent Values, and number(), the result.
#pragma once

#include "primitives/scan.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kg::scan {

// Elements as Values: f32, f16 and bf16 as f32; i32 unchanged or as unsigned.
template <class V, class T>
__device__ __forceinline__ V widened(T element) {
  if constexpr (std::is_same_v<V, float>)
    return to_float(element);
  else
    return static_cast<V>(element);
}
template <class T, class V>
__device__ __forceinline__ T narrowed(V value) {
  if constexpr (std::is_same_v<V, float>)
    return from_float<T>(value);
  else
    return static_cast<T>(value);
}

// Not fmaxf, which ignores NaN: here the first NaN is kept, and of equal numbers the last one. This
// makes it associative bit by bit.
template <class V>
struct Max {
  using Value = V;
  __device__ static V identity() {
    if constexpr (std::is_same_v<V, float>)
      return -INFINITY;
    else
      return std::numeric_limits<V>::min();
  }
  __device__ static V combine(V a, V b) { return a > b || a != a ? a : b; }
};

// An array with a single segment.
template <class F>
struct Whole : F {
  static constexpr bool kSegmented = false;
  using Number = typename F::Value;
  template <class T>
  __device__ __forceinline__ static Number from(T element, bool) {
    return widened<Number>(element);
  }
  __device__ static Number number(Number value) { return value; }
};

// Several segments: results after a head do not depend on elements before it (Blelloch, "Prefix
// Sums and Their Applications", 1990, 1.5).
template <class F>
struct Segmented {
  static constexpr bool kSegmented = true;
  using Number = typename F::Value;
  struct Value {
    Number number;
    unsigned has_head;
  };
  __device__ __forceinline__ static Value identity() { return {F::identity(), 0}; }
  __device__ __forceinline__ static Value combine(const Value& a, const Value& b) {
    return {b.has_head != 0 ? b.number : F::combine(a.number, b.number), a.has_head | b.has_head};
  }
  template <class T>
  __device__ __forceinline__ static Value from(T element, bool head) {
    return {F::combine(F::identity(), widened<Number>(element)), head ? 1u : 0u};
  }
  __device__ __forceinline__ static Number number(const Value& value) { return value.number; }
};

} // namespace kg::scan
