// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Global pooling: the window is the plane, so this is a reduction. The order is fixed: a tree
// combines the partial results of lanes or rows. nchw planes so small that a block's shared memory
// holds several have their own kernel: small_planes.h.
//
// Bytes: x once; y is negligible. Expected on an H200: 90 % of its read bandwidth, given enough
// planes. A warp has 4 packs per lane in flight, and the 32 warps of a multiprocessor 64 KiB. A few
// huge planes would need several blocks each and a second pass, but networks end in many small
// planes.
#pragma once

#include "ops/pooling/reduce.h"

namespace kg::pooling {

inline constexpr int kGlobalThreads = 256;
inline constexpr int kPlanesPerBlock = kGlobalThreads / kLanes;
inline constexpr int kPacksInFlight = 4; // loads per thread before the first use

// nchw: a warp per plane of `size` elements.
template <class Reduce, class T, int Count>
__global__ void __launch_bounds__(kGlobalThreads)
    global_planes(const T* __restrict__ x, T* __restrict__ y, std::int64_t planes,
                  std::int64_t size) {
  const std::int64_t plane =
      static_cast<std::int64_t>(blockIdx.x) * kPlanesPerBlock + threadIdx.x / kLanes;
  if (plane >= planes) return; // the whole warp
  const T* from = x + plane * size;
  const std::int64_t packs = (size + Count - 1) / Count;
  Floats<Count> result = identity<Reduce, Count>();
  for (std::int64_t first = threadIdx.x % kLanes; first < packs; first += kPacksInFlight * kLanes) {
    StoredPack<T, Count> stored[kPacksInFlight];
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p)
      stored[p] =
          load_stored<T, Count>(from, first + p * kLanes, size, from_float<T>(Reduce::kIdentity));
    loaded(stored);
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) combine<Reduce>(result, widened(stored[p]));
  }
  float total = result.value[0];
  KG_UNROLL
  for (int e = 1; e < Count; ++e) total = Reduce::combine(total, result.value[e]);
  KG_UNROLL
  for (int step = kLanes / 2; step > 0; step /= 2)
    total = Reduce::combine(total, __shfl_xor_sync(kAllLanes, total, step));
  if (threadIdx.x % kLanes == 0) y[plane] = from_float<T>(typename Reduce::Finish(size)(total));
}

// nhwc: a block per image and `blockDim.x` packs of its channels. blockDim.y threads share a pack
// and stride over its `size` positions. Shared memory holds the block's partial results,
// element-major over packs, so that a warp's accesses have no bank conflicts.
template <class Reduce, class T, int Count>
__global__ void __launch_bounds__(kGlobalThreads)
    global_channels(const T* __restrict__ x, T* __restrict__ y, std::int64_t size, int packs) {
  __shared__ float partial[Count][kGlobalThreads];
  const int groups = (packs + static_cast<int>(blockDim.x) - 1) / static_cast<int>(blockDim.x);
  const int pack =
      static_cast<int>(blockIdx.x % groups) * static_cast<int>(blockDim.x) + threadIdx.x;
  const std::int64_t image = blockIdx.x / groups;
  const std::int64_t channels = static_cast<std::int64_t>(packs) * Count;
  const T* from = x + image * size * channels + static_cast<std::int64_t>(pack) * Count;
  const int mine = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);

  Floats<Count> result = identity<Reduce, Count>();
  for (std::int64_t first = threadIdx.y; pack < packs && first < size;
       first += kPacksInFlight * blockDim.y) {
    StoredPack<T, Count> stored[kPacksInFlight] = {};
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p) {
      const std::int64_t place = first + p * blockDim.y;
      if (place < size) stored[p].load(from + place * channels);
    }
    loaded(stored);
    KG_UNROLL
    for (int p = 0; p < kPacksInFlight; ++p)
      if (first + p * blockDim.y < size) combine<Reduce>(result, widened(stored[p]));
  }
  KG_UNROLL
  for (int e = 0; e < Count; ++e) partial[e][mine] = result.value[e];
  for (unsigned rows = blockDim.y / 2; rows > 0; rows /= 2) {
    __syncthreads();
    if (threadIdx.y >= rows) continue;
    const int other = mine + static_cast<int>(rows * blockDim.x);
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      partial[e][mine] = Reduce::combine(partial[e][mine], partial[e][other]);
  }
  if (threadIdx.y > 0 || pack >= packs) return;
  const typename Reduce::Finish finish(size);
  Pack<T, Count> stored;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) stored.element[e] = from_float<T>(finish(partial[e][mine]));
  T* const to = y + image * channels + static_cast<std::int64_t>(pack) * Count;
  store_wide(reinterpret_cast<Pack<T, Count>*>(to), stored);
}

} // namespace kg::pooling
