// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prefix results over the tiles of a grid in one pass, by decoupled look-back: each tile publishes
// the aggregate of its elements, reads the results of earlier tiles, and continues.
//
// The method is Merrill and Garland's ("Single-pass Parallel Prefix Scan with Decoupled Look-back",
// NVIDIA NVR-2016-002), with one change. There a tile walks back to the first tile with an
// inclusive prefix, so the order of additions depends on timing and float sums vary between runs.
// Here the tree is fixed: 32 tiles form a group, whose last tile publishes the group's aggregate;
// 32 groups form a region, whose last tile publishes the inclusive prefix at its end. The exclusive
// prefix of a tile is always the previous region's prefix, the earlier groups of its region, and
// the earlier tiles of its group: three reads per lane of one warp, issued together. Timing affects
// when the reads complete, not which values are combined. Regions form the only long chain: one
// round trip per 32 x 32 tiles of about 16 KiB, or 16 GB per millisecond.
//
// Tiles take their indices from a counter, so a tile waits only for blocks that have started, and
// no scheduling order can deadlock. A value and its ready flag share one 64-bit word, so no fence
// is needed between them.
#pragma once

#include "primitives/block.h"
#include "primitives/scan.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kg {

using LookBackWord = unsigned long long;

// The words of a look-back: the counter, then one per tile, group and region.
struct LookBack {
  LookBackWord* words = nullptr;
  std::int64_t tiles = 0;

  __device__ LookBackWord* counter() const { return words; }
  __device__ LookBackWord* of_tiles() const { return words + 1; }
  __device__ LookBackWord* of_groups() const { return of_tiles() + tiles; }
  __device__ LookBackWord* of_regions() const { return of_groups() + tiles / kLanes; }
};

// 0 for a single tile, which has no predecessor.
constexpr std::int64_t look_back_words(std::int64_t tiles) {
  return tiles <= 1 ? 0 : 1 + tiles + tiles / kLanes + tiles / (kLanes * kLanes);
}
constexpr std::size_t look_back_bytes(std::int64_t tiles) {
  return static_cast<std::size_t>(look_back_words(tiles)) * sizeof(LookBackWord);
}

// The longest sequential chain of combinations in an exclusive prefix: two trees over 32, the
// regions, and the steps that join them.
constexpr std::int64_t look_back_chain(std::int64_t tiles) {
  return tiles <= 1 ? 1 : 2 * kButterflySteps + 3 + tiles / (kLanes * kLanes);
}

inline constexpr unsigned kClearThreads = 256;

template <class Word>
__global__ void __launch_bounds__(kClearThreads) clear_words(Word* words, std::int64_t count) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kClearThreads + threadIdx.x;
  if (i < count) words[i] = 0;
}

inline void clear(LookBackWord* words, std::int64_t count, Stream& stream) {
  if (count > 0)
    launch(clear_words<LookBackWord>,
           {.grid = static_cast<unsigned>(div_up(count, kClearThreads)),
            .block = kClearThreads,
            .stream = &stream},
           words, count);
}

// Clears the state for the next kernel, in look_back_bytes(tiles) bytes of device memory.
inline LookBack begin_look_back(void* memory, std::int64_t tiles, Stream& stream) {
  auto* const words = static_cast<LookBackWord*>(memory);
  clear(words, look_back_words(tiles), stream);
  return {words, tiles};
}

namespace look_back_detail {

inline constexpr LookBackWord kThere = 1ull << 63;

// Value: 4 bytes, or 8 bytes whose second word is below 2^31 (its top bit is the flag).
template <class Value>
__device__ __forceinline__ void publish(LookBackWord* to, const Value& value) {
  static_assert(sizeof(Value) <= sizeof(LookBackWord));
  LookBackWord word = 0;
  memcpy(&word, &value, sizeof value);
  *static_cast<volatile LookBackWord*>(to) = word | kThere;
}

// The first read of a word. Does not wait, so that all reads are in flight together.
__device__ __forceinline__ LookBackWord look(const LookBackWord* at, bool wanted) {
  return wanted ? *static_cast<const volatile LookBackWord*>(at) : kThere;
}

template <class F>
__device__ __forceinline__ typename F::Value wait(LookBackWord word, const LookBackWord* at,
                                                  bool wanted) {
  while ((word & kThere) == 0) {
    __nanosleep(20);
    word = *static_cast<const volatile LookBackWord*>(at);
  }
  word &= ~kThere;
  typename F::Value value;
  memcpy(&value, &word, sizeof value);
  return wanted ? value : F::identity();
}

} // namespace look_back_detail

// Publishes the aggregate of `tile`. Called by one whole warp.
template <class F>
__device__ __forceinline__ void publish_aggregate(const LookBack& state, std::int64_t tile,
                                                  const typename F::Value& own) {
  if (state.tiles > 1 && threadIdx.x % kLanes == 0)
    look_back_detail::publish(state.of_tiles() + tile, own);
}

// The exclusive prefix of `tile`, whose aggregate is `own`; publishes `own`, unless
// publish_aggregate() has (kPublished). Called by one whole warp; every lane has the result.
template <class F, bool kPublished = false>
__device__ __forceinline__ typename F::Value look_back(const LookBack& state, std::int64_t tile,
                                                       const typename F::Value& own) {
  using namespace look_back_detail;
  using Value = typename F::Value;
  if (state.tiles == 1) return F::identity();
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t group = tile / kLanes, region = group / kLanes;
  const auto tile_of_group = static_cast<int>(tile % kLanes);
  const auto group_of_region = static_cast<int>(group % kLanes);
  const bool ends_group = tile_of_group == kLanes - 1;
  if (!kPublished && lane == 0) publish(state.of_tiles() + tile, own);

  const LookBackWord* const at_tile = state.of_tiles() + group * kLanes + lane;
  const LookBackWord* const at_group = state.of_groups() + region * kLanes + lane;
  const LookBackWord* const at_region = state.of_regions() + region - 1;
  const bool wants_tile = lane < tile_of_group;
  const bool wants_group = lane < group_of_region;
  const bool wants_region = region > 0;
  const LookBackWord of_tile = look(at_tile, wants_tile);
  const LookBackWord of_group = look(at_group, wants_group);
  const LookBackWord of_region = look(at_region, wants_region);

  const auto all = [](const Value& value) {
    return shuffled_from(warp_scan<F>(value), kLanes - 1);
  };
  const Value tiles = all(wait<F>(of_tile, at_tile, wants_tile));
  const Value whole_group = F::combine(tiles, own);
  if (lane == 0 && ends_group) publish(state.of_groups() + group, whole_group);
  const Value groups = all(wait<F>(of_group, at_group, wants_group));
  const Value before = F::combine(wait<F>(of_region, at_region, wants_region), groups);
  if (lane == 0 && ends_group && group_of_region == kLanes - 1)
    publish(state.of_regions() + region, F::combine(before, whole_group));
  return F::combine(before, tiles);
}

// Shared memory of a block for look_back().
template <class F>
struct LookBackScratch {
  typename F::Value of_warps[kMaxWarps];
  typename F::Value before_tile;
  unsigned tile;
};

// Takes the next tile. All threads must call.
template <class F>
__device__ inline std::int64_t take_tile(const LookBack& state, LookBackScratch<F>& scratch) {
  if (state.tiles == 1) return 0;
  if (threadIdx.x == 0) scratch.tile = static_cast<unsigned>(atomicAdd(state.counter(), 1ull));
  __syncthreads();
  return scratch.tile;
}

// The prefixes of a warp's elements.
template <class Value>
struct TilePlace {
  Value before_tile; // over all earlier tiles
  Value before_warp; // over the earlier warps of the tile
  Value of_tile;     // over the tile
};

// of_warp: the warp's aggregate, the same in all lanes. All threads of the Warps warps must call.
template <class F, int Warps>
__device__ __forceinline__ TilePlace<typename F::Value>
place_of_warp(const LookBack& state, std::int64_t tile, const typename F::Value& of_warp,
              LookBackScratch<F>& scratch) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  if (lane == 0) scratch.of_warps[warp] = of_warp;
  __syncthreads();
  TilePlace<typename F::Value> place{F::identity(), F::identity(), F::identity()};
  KG_UNROLL
  for (int w = 0; w < Warps; ++w) {
    if (w == warp) place.before_warp = place.of_tile;
    const typename F::Value other = scratch.of_warps[w];
    place.of_tile = F::combine(place.of_tile, other);
  }
  if (warp == 0) {
    const auto found = look_back<F>(state, tile, place.of_tile);
    if (lane == 0) scratch.before_tile = found;
  }
  __syncthreads();
  const auto before_tile = scratch.before_tile;
  place.before_tile = before_tile;
  return place;
}

} // namespace kg
