// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two to four planes whose elements are interleaved in the result, as the channels of a pixel, or
// the inverse. In a tile of transpose_tile.h, one side would have 3 elements and packs of one. Here
// a thread holds a 16-byte pack of each plane in registers, which makes as many packs of pixels.
// The pixels pass through shared memory so that neighbouring threads access neighbouring packs.
// Lanes are kPlanes packs apart there: 3 planes spread eight lanes over all banks, 2 and 4 have 2-
// and 4-way conflicts. Shared memory has bandwidth to spare: each byte crosses it twice.
#pragma once

#include "instructions/store_shared.h"
#include "primitives/pack.h"
#include "primitives/transpose_tile.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::permute {

inline constexpr int kPlanesThreads = 128;
inline constexpr int kFewest = 2, kMost = 4; // planes

// Converts packs of each plane to packs of pixels (together) and back (apart).
template <int kPlanes, class Word>
struct Pixels {
  static constexpr int kCount = kPackElements<Word>;
  using Whole = Pack<Word, kCount>;
  Whole pack[kPlanes];

  __device__ __forceinline__ Pixels together() const {
    Pixels result;
    KG_UNROLL
    for (int e = 0; e < kPlanes * kCount; ++e)
      result.pack[e / kCount].element[e % kCount] = pack[e % kPlanes].element[e / kPlanes];
    return result;
  }
  __device__ __forceinline__ Pixels apart() const {
    Pixels result;
    KG_UNROLL
    for (int e = 0; e < kPlanes * kCount; ++e)
      result.pack[e % kPlanes].element[e / kPlanes] = pack[e / kCount].element[e % kCount];
    return result;
  }
};

// A block moves kPlanesThreads packs of each plane. `batch` is as in transpose_tile, but of a_units
// and b_units one is kPlanes, the other the packs of a plane; tiles_a or tiles_b counts blocks.
template <int kPlanes, bool kApart, class Word>
__global__ void __launch_bounds__(kPlanesThreads)
    planes(const Word* __restrict__ x, Word* __restrict__ y, TransposeBatch batch) {
  using Mine = Pixels<kPlanes, Word>;
  using Whole = typename Mine::Whole;
  __shared__ Whole tile[kPlanes * kPlanesThreads];
  std::uint32_t left = blockIdx.x;
  const NarrowDivisor& tiles = kApart ? batch.tiles_b : batch.tiles_a;
  const std::int64_t first = std::int64_t{tiles.take_last(left)} * kPlanesThreads;
  go_to_matrix(batch, left, x, y);
  const std::int64_t packs = (kApart ? batch.b_units : batch.a_units) - first;
  const int count = packs < kPlanesThreads ? static_cast<int>(packs) : kPlanesThreads;
  const int thread = static_cast<int>(threadIdx.x);
  const auto* const from = reinterpret_cast<const Whole*>(x);
  auto* const to = reinterpret_cast<Whole*>(y);
  const auto plane = [&](int p) {
    return p * ((kApart ? batch.y_stride : batch.x_stride) / Mine::kCount) + first + thread;
  };
  const auto pixels = [&](int p) { return p * kPlanesThreads + thread; };
  Mine mine = {};
  if constexpr (kApart) {
    KG_UNROLL
    for (int p = 0; p < kPlanes; ++p)
      if (pixels(p) < kPlanes * count) mine.pack[p] = from[kPlanes * first + pixels(p)];
    KG_UNROLL
    for (int p = 0; p < kPlanes; ++p) ptx::store_shared(tile + pixels(p), mine.pack[p]);
    __syncthreads();
    KG_UNROLL
    for (int p = 0; p < kPlanes; ++p) mine.pack[p] = tile[kPlanes * thread + p];
    mine = mine.apart();
    KG_UNROLL
    for (int p = 0; p < kPlanes; ++p)
      if (thread < count) store_wide(to + plane(p), mine.pack[p]);
  } else {
    KG_UNROLL
    for (int p = 0; p < kPlanes; ++p)
      if (thread < count) mine.pack[p] = from[plane(p)];
    mine = mine.together();
    KG_UNROLL
    for (int p = 0; p < kPlanes; ++p) ptx::store_shared(tile + kPlanes * thread + p, mine.pack[p]);
    __syncthreads();
    KG_UNROLL
    for (int p = 0; p < kPlanes; ++p)
      if (pixels(p) < kPlanes * count)
        store_wide(to + (kPlanes * first + pixels(p)), tile[pixels(p)]);
  }
}

} // namespace kg::permute
