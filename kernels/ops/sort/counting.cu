// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts 16-bit keys without values. There are only 65,536 different keys, so it suffices to count
// how often each occurs and to write the result from the counts.
//
// Bytes: keys are read once and written once, 4 n; two passes over their digits would move 10 n.
// Expected on an H200 (modelled): 45 % of memory bandwidth, since bank conflicts split a warp's 32
// atomics into about 3.5 rounds. Identical keys need 32 rounds, which is still faster than passes.
//
// A block counts in 128 KiB of shared memory, two counters per word. A round adds at most 2^15 to
// one. The thread that raises a counter to 2^15 subtracts 2^15 and adds it to the total of all
// blocks. No counter is therefore above 2^15 - 1 before a round or above 2^16 - 1 after it. 32-bit
// counters do not fit into shared memory; in global memory each key would be an atomic in L2. If a
// block may use only 64 KiB, two blocks read the same keys, each counting half of the values.
//
// Zeros of both signs are equal and keep their order, which counts do not record. If both occur,
// order_zeros() writes them again from the keys: 2 n bytes and 2 per zero. Each block knows where
// its zeros begin, since it has counted the same keys.
#include "ops/sort/counting.h"

#include "primitives/look_back.h"
#include "primitives/scan.h"
#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>

namespace kg::sort {

constexpr int kValues = 1 << 16;
constexpr int kThreads = 1024, kWarps = kThreads / kLanes;
constexpr int kKeys = 32; // per thread and round
constexpr int kRound = kThreads * kKeys;
constexpr unsigned kLifted = 1u << 15;
static_assert(kRound <= kLifted && kWarps == kLanes);
constexpr std::size_t kCounterBytes = kValues * sizeof(std::uint16_t);
constexpr int kExpandThreads = 256, kExpanded = 32 * kExpandThreads; // results per block

// total: how often each ordered word occurs. starts: where its keys begin, and n at the end. zeros:
// the zeros among each block's keys.
struct Counts {
  unsigned* total;
  unsigned* starts;
  unsigned* zeros;
};
constexpr int kCountWords = kValues, kStartWords = kValues + 4;

__device__ __forceinline__ bool is_zero(const HalfKeys& order, std::uint16_t ordered) {
  return order.rank(ordered) == HalfKeys::kMiddle;
}

__device__ __forceinline__ void add(const HalfKeys& order, const Counts& counts, int ordered,
                                    unsigned count) {
  atomicAdd(counts.total + ordered, count);
  if (is_zero(order, static_cast<std::uint16_t>(ordered)))
    atomicAdd(counts.zeros + blockIdx.x, count);
}

// Block (b, part) counts its part of the values among the keys [b chunk, (b + 1) chunk).
template <int kParts>
__global__ void __launch_bounds__(kThreads, 1)
    count_values(HalfKeys order, const std::uint16_t* keys, int n, int chunk, Counts counts) {
  constexpr int kOwn = kValues / kParts;
  unsigned* const own = dynamic_shared<unsigned>();
  const auto thread = static_cast<int>(threadIdx.x);
  const int least = static_cast<int>(blockIdx.y) * kOwn;
  for (int word = thread; word < kOwn / 2; word += kThreads) own[word] = 0;
  __syncthreads();
  const int first = static_cast<int>(blockIdx.x) * chunk, end = min(first + chunk, n);
  for (int begin = first; begin < end; begin += kRound) {
    std::uint16_t key[kKeys];
    KG_UNROLL
    for (int i = 0; i < kKeys; ++i) {
      const int at = begin + i * kThreads + thread;
      key[i] = at < end ? keys[at] : std::uint16_t{0};
    }
    KG_UNROLL
    for (int i = 0; i < kKeys; ++i) {
      if (begin + i * kThreads + thread >= end) continue;
      const int value = order.ordered(key[i]) - least;
      if (kParts > 1 && (value < 0 || value >= kOwn)) continue;
      const int shift = (value & 1) * 16;
      const unsigned before = atomicAdd(own + (value >> 1), 1u << shift) >> shift & 0xffffu;
      if (before != kLifted - 1) continue;
      atomicSub(own + (value >> 1), kLifted << shift);
      add(order, counts, least + value, kLifted);
    }
    __syncthreads();
  }
  for (int word = thread; word < kOwn / 2; word += kThreads) {
    const unsigned both = own[word];
    const int lower = least + 2 * word;
    if ((both & 0xffffu) != 0) add(order, counts, lower, both & 0xffffu);
    if (both >> 16 != 0) add(order, counts, lower + 1, both >> 16);
  }
}

// The exclusive prefix over the warps, and the total, of `value`, which is uniform in each warp.
// `scratch`: one word per warp.
__device__ __forceinline__ WarpScan<unsigned> warps_below(unsigned value, unsigned* scratch) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  WarpScan<unsigned> warps = warp_scan_below<Sum<unsigned>>(scratch[lane]);
  warps.below = __shfl_sync(kAllLanes, warps.below, warp);
  return warps;
}

// Finds where each value's keys begin. One block, whose warps each take kOfWarp adjacent values.
__global__ void __launch_bounds__(kThreads, 1) sum_counts(Counts counts) {
  __shared__ unsigned scratch[kWarps];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  constexpr int kOfWarp = kValues / kWarps;
  const int first = static_cast<int>(threadIdx.x) / kLanes * kOfWarp + lane;
  unsigned sum = 0;
  for (int i = 0; i < kOfWarp; i += kLanes) sum += counts.total[first + i];
  sum = group_reduce<Sum<unsigned>>(sum, kLanes);
  unsigned start = warps_below(sum, scratch).below;
  for (int i = 0; i < kOfWarp; i += kLanes) {
    const WarpScan<unsigned> row = warp_scan_below<Sum<unsigned>>(counts.total[first + i]);
    counts.starts[first + i] = start + row.below;
    start += row.all;
  }
  if (threadIdx.x == kThreads - 1) counts.starts[kValues] = start;
}

// The value at position `place` of the result, within [low, high]: the last value that begins at or
// before `place`.
__device__ __forceinline__ int value_at(const unsigned* starts, unsigned place, int low, int high) {
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    const unsigned begins = starts[middle];
    if (begins <= place)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// Writes each value as often as it occurs.
__global__ void __launch_bounds__(kExpandThreads)
    expand_counts(HalfKeys order, const unsigned* starts, std::uint16_t* sorted_keys, int n) {
  __shared__ int ends[2]; // the first and the last value of the block
  const auto thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) * kExpanded;
  const int end = min(first + kExpanded, n);
  if (thread < 2) ends[thread] = value_at(starts, thread == 0 ? first : end - 1, 0, kValues - 1);
  __syncthreads();
  int value = ends[0];
  const int last = ends[1];
  unsigned behind = 0; // where the value's keys end, once known
  for (int at = first + thread; at < end; at += kExpandThreads) {
    const auto place = static_cast<unsigned>(at);
    if (place >= behind) {
      value = value_at(starts, place, value, last);
      behind = starts[value + 1];
    }
    sorted_keys[at] = order.bits(static_cast<std::uint16_t>(value));
  }
}

// Writes the zeros in the order of the keys, if both signs occur. Chunks as in count_values().
__global__ void __launch_bounds__(kThreads, 1)
    order_zeros(HalfKeys order, const std::uint16_t* keys, std::uint16_t* sorted_keys, int n,
                int chunk, Counts counts) {
  constexpr int kItems = 8, kOfWarp = kItems * kLanes;
  constexpr int kLower = HalfKeys::kMiddle - 1;
  __shared__ unsigned scratch[2][kWarps];
  if (counts.total[kLower] == 0 || counts.total[kLower + 1] == 0) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  unsigned to = counts.starts[kLower];
  for (unsigned block = 0; block < blockIdx.x; ++block) to += counts.zeros[block];
  const int first = static_cast<int>(blockIdx.x) * chunk, end = min(first + chunk, n);
  int turn = 0;
  for (int begin = first; begin < end; begin += kWarps * kOfWarp, turn ^= 1) {
    std::uint16_t key[kItems];
    unsigned zeros[kItems], of_warp = 0;
    KG_UNROLL
    for (int i = 0; i < kItems; ++i) {
      const int at = begin + warp * kOfWarp + i * kLanes + lane;
      key[i] = at < end ? keys[at] : std::uint16_t{1};
      zeros[i] = __ballot_sync(kAllLanes, is_zero(order, order.ordered(key[i])));
      of_warp += __popc(zeros[i]);
    }
    const WarpScan<unsigned> warps = warps_below(of_warp, scratch[turn]);
    unsigned place = to + warps.below;
    KG_UNROLL
    for (int i = 0; i < kItems; ++i) {
      const bool own = (zeros[i] >> lane & 1u) != 0;
      if (own) sorted_keys[place + __popc(zeros[i] & ((1u << lane) - 1))] = key[i];
      place += __popc(zeros[i]);
    }
    to += warps.all;
  }
}

namespace {

std::int64_t counting_blocks() { return device_properties().sm_count; }

std::int64_t counting_words() {
  return kCountWords + kStartWords + div_up(counting_blocks(), 4) * 4;
}

} // namespace

std::size_t counting_bytes() { return static_cast<std::size_t>(div_up(counting_words(), 4) * 16); }

void sort_by_counting(HalfKeys order, const std::uint16_t* keys, std::uint16_t* sorted_keys, int n,
                      void* workspace, Stream& stream) {
  auto* const total = static_cast<unsigned*>(workspace);
  unsigned* const zeros = total + kCountWords;
  const Counts counts{total, zeros + div_up(counting_blocks(), 4) * 4, zeros};
  const std::int64_t cleared = kCountWords + counting_blocks();
  launch(clear_words<unsigned>,
         {.grid = static_cast<unsigned>(div_up(cleared, kClearThreads)),
          .block = kClearThreads,
          .stream = &stream},
         total, cleared);
  const std::int64_t blocks = std::min<std::int64_t>(counting_blocks(), div_up(n, kRound));
  const auto chunk = static_cast<int>(div_up(n, blocks));
  const LaunchConfig each{
      .grid = static_cast<unsigned>(blocks), .block = kThreads, .stream = &stream};
  const bool fits = device_properties().shared_bytes_per_block_optin >= kCounterBytes;
  LaunchConfig counting = each;
  counting.grid.y = fits ? 1 : 2;
  counting.shared_bytes = kCounterBytes / counting.grid.y;
  launch(fits ? count_values<1> : count_values<2>, counting, order, keys, n, chunk, counts);
  launch(sum_counts, {.grid = 1, .block = kThreads, .stream = &stream}, counts);
  launch(expand_counts,
         {.grid = static_cast<unsigned>(div_up(n, kExpanded)),
          .block = kExpandThreads,
          .stream = &stream},
         order, counts.starts, sorted_keys, n);
  launch(order_zeros, each, order, keys, sorted_keys, n, chunk, counts);
}

} // namespace kg::sort
