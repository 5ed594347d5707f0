// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second step of gather.h for averages of whole planes: all elements of a plane get the same
// share of one dy, which a thread divides once for all that it has of them.
//
// Bytes: dx is written once; dy is nothing beside it, though each of a plane's threads reads its
// own from L1 or L2. By gather.h, which divides for each element and looks for the windows over it,
// averages of 7 x 7 in nhwc had 30 % of a copy's rate on an H200 (bf16).
#pragma once

#include "pooling_backward/gather.h"

namespace kg::pooling_backward {

inline constexpr int kPlacesAtOnce = 7; // of a pack of channels, that a thread writes

struct WholePlanes {
  std::int64_t places; // of a plane
  NarrowDivisor packs; // of the innermost elements
  NarrowDivisor parts; // of a plane, of kPlacesAtOnce places
  unsigned threads;
};

// What an element of a plane of so many places gets of its dy.
template <class T>
__device__ __forceinline__ T share_of(const WholeDivisor& places, float dy) {
  return from_float<T>(0.0f + places.quotient(dy)); // the sum of its windows: of -0 it is +0
}

// nhwc: Count channels of some places.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads)
    gather_whole_channels(const T* __restrict__ dy, T* __restrict__ dx, WholePlanes w) {
  unsigned image = blockIdx.x * kThreads + threadIdx.x;
  if (image >= w.threads) return;
  const std::int64_t inner = static_cast<std::int64_t>(w.packs.take_last(image)) * Count;
  const std::int64_t first = static_cast<std::int64_t>(w.parts.take_last(image)) * kPlacesAtOnce;
  const std::int64_t channels = static_cast<std::int64_t>(w.packs.value) * Count;
  StoredPack<T, Count> gradients;
  gradients.load(dy + image * channels + inner);
  const Floats<Count> values = widened(gradients);
  const WholeDivisor places(static_cast<float>(w.places));
  Pack<T, Count> shares;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) shares.element[e] = share_of<T>(places, values.value[e]);
  T* const to = dx + (image * w.places + first) * channels + inner;
  KG_UNROLL
  for (int p = 0; p < kPlacesAtOnce; ++p)
    if (first + p < w.places)
      store_streaming(reinterpret_cast<Pack<T, Count>*>(to + p * channels), shares);
}

// nchw: Count neighbours of dx, of as many planes as they touch.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads)
    gather_whole_planes(const T* __restrict__ dy, T* __restrict__ dx, Divisor size,
                        std::int64_t inputs) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t first = index * Count;
  if (first >= inputs) return;
  std::int64_t plane = size.quotient(first);
  std::int64_t next = (plane + 1) * size.value; // where the next plane begins
  const WholeDivisor places(static_cast<float>(size.value));
  T share = share_of<T>(places, to_float(dy[plane]));
  Pack<T, Count> shares = {};
  KG_UNROLL
  for (int e = 0; e < Count; ++e) {
    if (first + e >= inputs) break;
    if (first + e == next) {
      share = share_of<T>(places, to_float(dy[++plane]));
      next += size.value;
    }
    shares.element[e] = share;
  }
  if (first + Count <= inputs)
    return store_streaming(reinterpret_cast<Pack<T, Count>*>(dx) + index, shares);
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    if (first + e < inputs) dx[first + e] = shares.element[e];
}

} // namespace kg::pooling_backward
