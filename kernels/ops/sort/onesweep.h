// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: all keys are read once, then each pass reads and writes all keys and values once. This is
// (2 p + 1) size_of(T) per key for p passes, and 8 p per value; work() claims 2 size_of(T) and 8.
// No flops.
//
// Expected on an H200 (modelled): 45 % of memory bandwidth, by the bytes moved. A pass issues about
// 84 instructions per 32 keys of f32. With two thirds of the issue slots used, they take 285 us for
// 2^26 keys, and the bytes 131 us. 85 KiB per multiprocessor are in flight, 99 KiB for pairs.
//
// The passes are those of onesweep (Adinets and Merrill, "Onesweep: A Faster Least Significant
// Digit Radix Sort for GPUs", arXiv 2206.01784). One kernel counts the digits of all passes. A tile
// finds where its keys go by looking back at earlier tiles, one thread per digit. Counts are
// integers, so either of a tile's two words gives the same result. Counting before each pass would
// read the keys twice per pass: 3 memory passes instead of 2.
//
// A tile first counts its digits and publishes the counts. It then ranks its keys, and looks back
// last, so that earlier tiles have had time to publish. Ranking first, as a count by rank would
// allow, would delay later tiles. A warp ranks 32 keys at a time, in order, so the sort is stable;
// lanes with the same digit find each other by ballots. The tile is sorted in shared memory, so
// that stores coalesce. Otherwise nearly every key would be its own sector.
#pragma once

#include "instructions/match_bits.h"
#include "instructions/shared_pointer.h"
#include "ops/sort/arrays.h"
#include "ops/sort/keys.h"
#include "primitives/full_blocks.h"
#include "primitives/scan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg::sort {

inline constexpr int kThreads = 384, kWarps = kThreads / kLanes;
inline constexpr int kResident = std::min(3, full_blocks() * 256 / kThreads);
static_assert(kThreads >= kDigits);

// Keys per thread. Together with the warps' counters, a tile fills the 48 KiB of shared memory that
// every block may use. With three blocks resident, more than 19 words exceed the registers.
constexpr int items_of(std::size_t key_bytes, bool pairs) {
  if (pairs) return key_bytes == 2 ? 14 : key_bytes == 4 ? 11 : 7;
  return key_bytes == 8 ? 10 : 19;
}
constexpr int tile_of(std::size_t key_bytes, bool pairs) {
  return kThreads * items_of(key_bytes, pairs);
}

// The flags of a word that a tile publishes per digit, with a count below kBeyond: of the tile
// alone, or of all tiles up to it and of the smaller digits of all tiles.
inline constexpr unsigned kPartial = kBeyond, kInclusive = 2u << 30, kCount = kPartial - 1;
inline constexpr int kLooks = 4; // tiles that a thread reads at once

// Adds to `counts` the number of keys with each digit, for each pass. Digits begin at bit
// `first_bit` of a word; `mask`: the bits to sort by.
template <class Keys>
__global__ void __launch_bounds__(kThreads, kResident)
    count_digits(Keys order, const Word<Keys>* keys, unsigned* counts, int n, int first_bit,
                 Word<Keys> mask, int passes) {
  constexpr int kItems = items_of(sizeof(Word<Keys>), false), kTile = kThreads * kItems;
  __shared__ unsigned own[sizeof(Word<Keys>) * kDigits];
  const auto thread = static_cast<int>(threadIdx.x);
  for (int at = thread; at < passes * kDigits; at += kThreads) own[at] = 0;
  __syncthreads();
  const int step = static_cast<int>(gridDim.x) * kTile;
  for (int tile = static_cast<int>(blockIdx.x) * kTile; tile < n; tile += step) {
    Word<Keys> key[kItems];
    KG_UNROLL
    for (int i = 0; i < kItems; ++i) {
      const int at = tile + i * kThreads + thread;
      key[i] = at < n ? keys[at] : Word<Keys>{0};
    }
    KG_UNROLL
    for (int i = 0; i < kItems; ++i) {
      if (tile + i * kThreads + thread >= n) continue;
      const auto counted = static_cast<Word<Keys>>(order.rank(order.ordered(key[i])) & mask);
      KG_UNROLL
      for (int pass = 0; pass < static_cast<int>(sizeof(Word<Keys>)); ++pass) {
        if (pass >= passes) break;
        const auto digit = static_cast<int>(counted >> (first_bit + pass * kDigitBits));
        atomicAdd(own + pass * kDigits + (digit & (kDigits - 1)), 1u);
      }
    }
  }
  __syncthreads();
  for (int at = thread; at < passes * kDigits; at += kThreads) {
    const unsigned count = own[at];
    if (count != 0) atomicAdd(counts + at, count);
  }
}

// The exclusive prefix sum of `value` over the block. `scratch`: kWarps words of shared memory,
// unused by others until the next barrier. All threads must call.
__device__ inline unsigned below_in_block(unsigned value, unsigned* scratch) {
  const WarpScan<unsigned> row = warp_scan_below<Sum<unsigned>>(value);
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  if (threadIdx.x % kLanes == 0) scratch[warp] = row.all;
  __syncthreads();
  unsigned below = row.below;
  KG_UNROLL
  for (int w = 0; w < kWarps - 1; ++w) {
    const unsigned of_warp = scratch[w];
    below += w < warp ? of_warp : 0;
  }
  return below;
}

// The destination of the tile's first key with the digit, from what earlier tiles have published.
// Not for the first tile. `words`: the words of the digit, kDigits apart.
__device__ inline unsigned look_back(const unsigned* words, int tile) {
  unsigned before = 0;
  for (int next = tile - 1;;) {
    unsigned word[kLooks]; // independent loads
    KG_UNROLL
    for (int k = 0; k < kLooks; ++k)
      word[k] =
          next >= k ? *static_cast<const volatile unsigned*>(words + (next - k) * kDigits) : 0;
    int there = 0;
    KG_UNROLL
    for (int k = 0; k < kLooks; ++k) {
      if (there < k || (word[k] & ~kCount) == 0) continue;
      before += word[k] & kCount;
      if ((word[k] & kInclusive) != 0) return before;
      ++there;
    }
    next -= there;
    if (there == 0) __nanosleep(20);
  }
}

__device__ inline void publish(unsigned* word, unsigned value) {
  *static_cast<volatile unsigned*>(word) = value;
}

// The arguments of one pass. counts: the keys with each digit of this pass, over all tiles. words:
// the tile counter, then one word per tile and digit, all 0.
template <class W>
struct Pass {
  const W* keys;
  W* sorted_keys;
  const std::int32_t* values;
  std::int32_t* sorted_values;
  int n;
  Digit digit = {};
  const unsigned* counts = nullptr;
  unsigned* words = nullptr;
};

// Shared memory of a block. places: per warp and digit, first the number of keys, then the position
// in the tile of the next one.
template <class W, bool kPairs>
struct Memory {
  static constexpr int kItems = items_of(sizeof(W), kPairs), kTile = kThreads * kItems;
  W keys[kTile]; // sorted by the digit
  std::int32_t values[kPairs ? kTile : 1];
  unsigned places[kWarps * kDigits];
  unsigned target[kDigits]; // a key's destination minus its position in the tile
  unsigned scratch[kWarps];
  unsigned tile;
  Digit digit; // of the pass: read again, since digits kept from above would take registers
};

// kWhole: whether the tile is full. Padding beyond the end is all ones, which has the last digit in
// every pass.
template <bool kWhole, class Keys, bool kPairs>
__device__ __forceinline__ void sort_tile(const Keys& order, const Pass<Word<Keys>>& pass, int tile,
                                          Memory<Word<Keys>, kPairs>& memory) {
  using W = Word<Keys>;
  constexpr int kItems = Memory<W, kPairs>::kItems, kTile = Memory<W, kPairs>::kTile;
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kLanes, warp = thread / kLanes;
  const ptx::SharedPointer<unsigned> places = memory.places + warp * kDigits;
  const int first = tile * kTile + warp * (kItems * kLanes) + lane;
  W key[kItems];
  [[maybe_unused]] std::int32_t value[kPairs ? kItems : 1];
  KG_UNROLL
  for (int i = 0; i < kItems; ++i) {
    const int at = first + i * kLanes;
    key[i] = static_cast<W>(~W{0});
    if (kWhole || at < pass.n) key[i] = order.ordered(pass.keys[at]);
    if constexpr (kPairs) value[i] = kWhole || at < pass.n ? pass.values[at] : 0;
  }
  KG_UNROLL
  for (int i = 0; i < kItems; ++i) atomicAdd(&places[digit_of(order, key[i], pass.digit)], 1u);
  __syncthreads();

  const bool has_digit = thread < kDigits; // one thread per digit
  unsigned* const word = pass.words + 1 + tile * kDigits + thread;
  unsigned own = 0;
  if (has_digit) {
    KG_UNROLL
    for (int w = 0; w < kWarps; ++w) own += memory.places[w * kDigits + thread];
    if (tile > 0) publish(word, kPartial | own);
  }
  const unsigned start = below_in_block(own, memory.scratch);
  if (has_digit) {
    unsigned next = start;
    KG_UNROLL
    for (int w = 0; w < kWarps; ++w) {
      const unsigned count = memory.places[w * kDigits + thread];
      memory.places[w * kDigits + thread] = next;
      next += count;
    }
  }
  __syncthreads();

  const Digit again = memory.digit;
  KG_UNROLL
  for (int i = 0; i < kItems; ++i) {
    const unsigned digit = digit_of(order, key[i], again);
    const unsigned same = ptx::match_bits<kDigitBits>(digit);
    const unsigned below = __popc(same & ((1u << lane) - 1));
    const int last = kLanes - 1 - __clz(same);
    unsigned place = 0;
    if (lane == last) place = atomicAdd(&places[digit], below + 1);
    place = __shfl_sync(kAllLanes, place, last) + below;
    memory.keys[place] = key[i];
    if constexpr (kPairs) memory.values[place] = value[i];
  }

  unsigned before = 0;
  if (tile == 0)
    before = below_in_block(has_digit ? pass.counts[thread] : 0, memory.scratch);
  else if (has_digit)
    before = look_back(pass.words + 1 + thread, tile);
  if (has_digit) {
    publish(word, kInclusive | (before + own));
    memory.target[thread] = before - start;
  }
  __syncthreads();
  const int left = pass.n - tile * kTile;
  KG_UNROLL
  for (int i = 0; i < kItems; ++i) {
    const int at = i * kThreads + thread;
    const W ordered = memory.keys[at];
    const unsigned to = memory.target[digit_of(order, ordered, pass.digit)] + at;
    if (!kWhole && at >= left) continue;
    pass.sorted_keys[to] = order.bits(ordered);
    if constexpr (kPairs) {
      const std::int32_t moved = memory.values[at];
      pass.sorted_values[to] = moved;
    }
  }
}

// One pass: sorts the keys by one digit.
template <class Keys, bool kPairs>
__global__ void __launch_bounds__(kThreads, kResident) onesweep(Keys order, Pass<Word<Keys>> pass) {
  __shared__ Memory<Word<Keys>, kPairs> memory;
  const auto thread = static_cast<int>(threadIdx.x);
  static_assert(kWarps * kDigits % kThreads == 0);
  KG_UNROLL
  for (int at = 0; at < kWarps * kDigits; at += kThreads) memory.places[at + thread] = 0;
  if (thread == 0) {
    memory.tile = atomicAdd(pass.words, 1u);
    memory.digit = pass.digit;
  }
  __syncthreads();
  const auto tile = static_cast<int>(memory.tile);
  if ((tile + 1) * memory.kTile <= pass.n)
    sort_tile<true>(order, pass, tile, memory);
  else
    sort_tile<false>(order, pass, tile, memory);
}

} // namespace kg::sort
