// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the softmax kernels reach a row: packs of Count elements, 16 bytes where the row's alignment
// permits and single elements where not, seen as f32.
#pragma once

#include "runtime/device_code.h"

#include <cstdint>
#include <limits>

namespace kg::softmax {

inline constexpr int kPackBytes = 16; // the widest access of one thread
template <class T>
inline constexpr int kPackElements = kPackBytes / static_cast<int>(sizeof(T));

// What stands where a row has ended: the neutral element of the maximum, and its exponential, 0,
// that of the sum.
inline constexpr float kPadding = -std::numeric_limits<float>::infinity();

template <class T, int Count>
struct alignas(Count * sizeof(T)) Pack {
  T element[Count];
};

template <int Count>
struct Floats {
  float value[Count];
};

// Pack number `pack` of a row; what lies behind its end is padding.
template <class T, int Count>
__device__ inline Floats<Count> load(const T* row, std::int64_t pack, std::int64_t cols) {
  Floats<Count> result;
  const std::int64_t first = pack * Count;
  if (first + Count <= cols) {
    const auto raw = *reinterpret_cast<const Pack<T, Count>*>(row + first);
    KG_UNROLL
    for (int e = 0; e < Count; ++e) result.value[e] = to_float(raw.element[e]);
  } else {
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      result.value[e] = first + e < cols ? to_float(row[first + e]) : kPadding;
  }
  return result;
}

// The converse; nothing is written behind the row's end.
template <class T, int Count>
__device__ inline void store(T* row, std::int64_t pack, std::int64_t cols,
                             const Floats<Count>& values) {
  const std::int64_t first = pack * Count;
  if (first + Count <= cols) {
    Pack<T, Count> raw;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) raw.element[e] = from_float<T>(values.value[e]);
    *reinterpret_cast<Pack<T, Count>*>(row + first) = raw;
  } else {
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      if (first + e < cols) row[first + e] = from_float<T>(values.value[e]);
  }
}

template <int Count>
__device__ inline float largest(const Floats<Count>& values, float start) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) start = fmaxf(start, values.value[e]);
  return start;
}

// Butterflies: every lane gets the same bits, since fmaxf and + commute. All 32 lanes take part.
inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kLanes = 32;

__device__ inline float warp_max(float value) {
  KG_UNROLL
  for (int step = kLanes / 2; step > 0; step /= 2)
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}
__device__ inline float warp_sum(float value) {
  KG_UNROLL
  for (int step = kLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

} // namespace kg::softmax
