// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second step of gather.h for averages of whole planes. All elements of a plane get the same
// share of one dy, which a thread divides once for all its elements of that plane.
//
// Bytes: dx is written once; dy is negligible, though each of a plane's threads reads it from L1 or
// L2. gather.h divides for each element and looks up the windows over it; averages of 7 x 7 in nhwc
// had 30 % of copy bandwidth that way on an H200 (bf16). Arithmetic, for nchw in 16 bits: 85 warp
// instructions per 512 bytes, of 120 that an H200 issues while it copies them.
#pragma once

#include "ops/pooling_backward/gather.h"
#include "primitives/row.h"

namespace kg::pooling_backward {

inline constexpr int kPlacesAtOnce = 7; // positions of a pack of channels per thread
inline constexpr int kPlanePacks = 4;   // packs of nchw planes per thread

struct WholePlanes {
  std::int64_t places; // of a plane
  NarrowDivisor packs; // of the innermost elements
  NarrowDivisor parts; // of a plane, kPlacesAtOnce positions each
  unsigned threads;
};

// The share of dy that each of the `places` elements of a plane receives.
__device__ inline float share_of(const WholeDivisor& places, float dy) {
  return 0.0f + places.quotient(dy); // the sum starts at +0, so -0 becomes +0
}

// nhwc: Count channels of up to kPlacesAtOnce positions.
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
  for (int e = 0; e < Count; ++e)
    shares.element[e] = from_float<T>(share_of(places, values.value[e]));
  T* const to = dx + (image * w.places + first) * channels + inner;
  KG_UNROLL
  for (int p = 0; p < kPlacesAtOnce; ++p)
    if (first + p < w.places)
      store_streaming(reinterpret_cast<Pack<T, Count>*>(to + p * channels), shares);
}

// nchw: packs of Count neighbours of dx. Planes have at least Count, so a pack spans at most two.
template <class T, int Count>
__global__ void __launch_bounds__(kThreads)
    gather_whole_planes(const T* __restrict__ dy, T* __restrict__ dx, Divisor size,
                        std::int64_t inputs) {
  const std::int64_t index =
      static_cast<std::int64_t>(blockIdx.x) * (kPlanePacks * kThreads) + threadIdx.x;
  StoredPack<T, 1> own[kPlanePacks] = {}, next[kPlanePacks] = {};
  int left[kPlanePacks] = {}; // elements until the next plane begins
  KG_UNROLL
  for (int p = 0; p < kPlanePacks; ++p) {
    const std::int64_t first = (index + p * kThreads) * Count;
    if (first >= inputs) continue;
    const std::int64_t plane = size.quotient(first);
    const std::int64_t end = (plane + 1) * size.value;
    left[p] = static_cast<int>(min(end - first, std::int64_t{Count}));
    own[p].load(dy + plane);
    if (Count > 1) next[p].load(dy + plane + (end < inputs ? 1 : 0));
  }
  loaded(own);
  loaded(next);
  const WholeDivisor places(static_cast<float>(size.value));
  KG_UNROLL
  for (int p = 0; p < kPlanePacks; ++p) {
    const float share = share_of(places, widened(own[p]).value[0]);
    const float share_of_next = share_of(places, widened(next[p]).value[0]);
    Floats<Count> shares;
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      shares.value[e] = Count == 1 || e < left[p] ? share : share_of_next;
    store_pack<T, Count, Store::streamed>(dx, index + p * kThreads, inputs, shares);
  }
}

} // namespace kg::pooling_backward
