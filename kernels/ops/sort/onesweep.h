// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: each pass reads and writes all keys and values once, and all keys are read once before
// them: (2 p + 1) size_of(T) per key of p passes, 8 p per value; what work() claims is 2 size_of(T)
// and 8. No flops.
//
// Expected on an H200, modelled: 45 % of the memory's rate by the bytes that move. A pass issues
// about 84 instructions for 32 keys of f32. If two thirds of the slots are used, these take 285 us
// for 2^26 keys, and the bytes 131 us. Loads keep 85 KiB a multiprocessor in flight, 99 of pairs.
//
// The passes are those of onesweep (Adinets and Merrill, "Onesweep: A Faster Least Significant
// Digit Radix Sort for GPUs", arXiv 2206.01784): digits of all passes are counted at once, and a
// tile learns where its keys go by looking back at the tiles before it, a thread for each digit.
// Counts are integers, so it may take whichever of a tile's two words it finds. Counting before
// each pass would read the keys twice in each: 3 passes for 2.
//
// A tile counts its digits first and publishes them at once. It then ranks its keys, and looks back
// last, when the tiles before have had that time to publish. Ranked first, as a count by rank would
// allow, each tile keeps those behind it waiting. A warp's keys are ranked 32 after the other, in
// order, so that the sort is stable; lanes with the same digit find each other by ballots. The tile
// is put in order in shared memory, so that neighbours go to neighbours; written from where they
// are ranked, nearly every key would be a sector of its own.
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

// Keys of a thread. Beside the counters of the warps, a tile fills the 48 KiB of shared memory that
// every block may have; more than 19 words do not fit into the registers of three blocks.
constexpr int items_of(std::size_t key_bytes, bool pairs) {
  if (pairs) return key_bytes == 2 ? 14 : key_bytes == 4 ? 11 : 7;
  return key_bytes == 8 ? 10 : 19;
}
constexpr int tile_of(std::size_t key_bytes, bool pairs) {
  return kThreads * items_of(key_bytes, pairs);
}

// What a tile publishes of a digit: a count below kBeyond, of the tile alone or of all up to it,
// smaller digits of all tiles among them.
inline constexpr unsigned kOwn = kBeyond, kAll = 2u << 30, kCount = kOwn - 1;
inline constexpr int kLooks = 4; // tiles that a thread asks for at once

// Adds to counts, for each pass, how many keys have each digit. Digits begin at `first_bit` of a
// word; `mask`: the bits that count.
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

// What the threads before this one have. `scratch`: kWarps words of shared memory, which nobody
// else uses before the next barrier. All threads must call.
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

// Where the digit's keys of this tile, not the first, go: what all before it have published, whose
// words for the digit are kDigits apart.
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
      if ((word[k] & kAll) != 0) return before;
      ++there;
    }
    next -= there;
    if (there == 0) __nanosleep(20);
  }
}

__device__ inline void publish(unsigned* word, unsigned value) {
  *static_cast<volatile unsigned*>(word) = value;
}

// What one pass works on. counts: of each digit of this pass among all keys; words: the counter of
// tiles, and one of each tile and digit, all 0.
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

// Of a block. places: of each warp and digit the keys, then where the next of them goes in the
// tile.
template <class W, bool kPairs>
struct Memory {
  static constexpr int kItems = items_of(sizeof(W), kPairs), kTile = kThreads * kItems;
  W keys[kTile]; // in the order of the digit
  std::int32_t values[kPairs ? kTile : 1];
  unsigned places[kWarps * kDigits];
  unsigned target[kDigits]; // of the tile's first key, had it this digit
  unsigned scratch[kWarps];
  unsigned tile;
  Digit digit; // of the pass: read again, since digits that are kept take registers
};

// kWhole: whether the tile is full. All ones, which is behind the end, has the last digit in every
// pass.
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

  const bool has_digit = thread < kDigits; // a thread for each
  unsigned* const word = pass.words + 1 + tile * kDigits + thread;
  unsigned own = 0;
  if (has_digit) {
    KG_UNROLL
    for (int w = 0; w < kWarps; ++w) own += memory.places[w * kDigits + thread];
    if (tile > 0) publish(word, kOwn | own);
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
    publish(word, kAll | (before + own));
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

// One pass: the keys in the order of one digit.
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
