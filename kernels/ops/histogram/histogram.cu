// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes: size_of(T) per element, 4 per bin. Expected on an H200: 95 % of the read bandwidth from
// 10^8 bytes on, whatever the data.
//
// privatized: a block has 32 counters of each bin, one in each bank of shared memory, and a lane
// adds to those of its own bank. So no two lanes of a warp meet in a bank: an addition is one pass,
// of constant data too. It adds 1 and wants no result: ATOMS.POPC.INC.32, from capability 8.0 on.
// Elements outside of all bins count in one slot more, which nobody reads: no branch. At the end a
// thread adds up the counters of a bin, and adds the sum in global memory.
//
// More than 512 bins have fewer counters each, so that they take 64 KiB: 16 up to 1024 bins, 4 at
// 4096. There 8 lanes of constant data meet at an address, as many as where neighbours are joined.
// Bytes have a slot for each of the 256 values: no range test, and a bin is found once per block
// and value. f32 takes 9 instructions per element and 10 per pack; i32 as many; bytes take 4 in
// all.
//
// One block of 1024 threads fills a multiprocessor, with six packs in flight per thread, 96 KiB.
// Two of 512 would need the counters twice, and L1 has the rest of that memory. Few elements are
// spread over more multiprocessors, in blocks of down to 256 threads. ptxas (13.0) gives all loads
// of the loop one scoreboard: a warp waits once per six packs, while others count. At the copy
// bandwidth of an H200, 96 KiB take 5600 cycles; to count them a scheduler issues for 2200 (f32) or
// 3200 (bytes).
//
// Why not join equal neighbours of a pack and add their number: it costs a branch per element and a
// slower atomic, and helps only data with runs. Why not one histogram per warp: that is as much
// memory, and lanes still meet. Why not sort: it moves every element several times.
#include "ops/histogram/histogram.h"

#include "primitives/divisor.h"
#include "primitives/look_back.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

namespace kg::histogram {

constexpr int kNaiveThreads = 256;
constexpr int kMostThreads = 1024; // of the one block of a multiprocessor
constexpr int kLeastThreads = 256; // where there is too little for all multiprocessors
constexpr int kCounters = 1 << 14; // of a block, beside those of elements outside: 64 KiB
constexpr int kAhead = 6;          // packs of a thread in flight: 96 KiB of a multiprocessor

// of(element): its bin; -1: none. A block counts in slots from -kOutside to slots() - 1:
// slot(element) is the element's, and bin_of(slot) the slot's bin; -1: none.
template <class T>
struct Bins {
  static constexpr int kOutside = 1; // slots of what no bin has

  int count = 0;
  std::int32_t lower = 0;
  std::uint32_t last = 0; // upper - 1 - lower
  NarrowDivisor width;    // of 2^31 as well, if there are two bins

  __device__ int of(T element) const {
    const std::uint32_t distance =
        static_cast<std::uint32_t>(element) - static_cast<std::uint32_t>(lower);
    const auto bin = static_cast<int>(width.quotient(distance));
    return distance <= last ? bin : -1;
  }
  __host__ __device__ int slots() const { return count; }
  __device__ int slot(T element) const { return of(element); }
  __device__ int bin_of(int slot) const { return slot; }
};
// Bytes: with m = floor(2^16 / width) + 1, floor(d m / 2^16) is d / width for all d below 2^8 and
// widths of at most 2^8, as the tests verify. Each of the 256 values has a slot.
template <>
struct Bins<std::int8_t> {
  static constexpr int kOutside = 0;

  int count = 0, lower = 0, upper = 0, multiplier = 0;

  __device__ int of(std::int8_t element) const {
    if (element < lower || element >= upper) return -1;
    return (element - lower) * multiplier >> 16;
  }
  __host__ __device__ int slots() const { return 1 << 8; }
  __device__ int slot(std::int8_t element) const { return static_cast<std::uint8_t>(element); }
  __device__ int bin_of(int slot) const { return of(static_cast<std::int8_t>(slot)); }
};
template <>
struct Bins<float> {
  static constexpr int kOutside = 1;

  int count = 0;
  float lower = 0, upper = 0, scale = 0;

  __device__ int of(float element) const {
    const float place = (element - lower) * scale;
    const bool counts = (element >= lower) & (element < upper);
    return min(static_cast<int>(counts ? place : -1.0f), count - 1);
  }
  __host__ __device__ int slots() const { return count; }
  __device__ int slot(float element) const { return of(element); }
  __device__ int bin_of(int slot) const { return slot; }
};

template <class T>
__global__ void __launch_bounds__(kNaiveThreads)
    naive(const T* x, std::int32_t* counts, std::int64_t n, Bins<T> bins) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kNaiveThreads + threadIdx.x;
  if (i >= n) return;
  const int bin = bins.of(x[i]);
  if (bin >= 0) atomicAdd(counts + bin, 1);
}

// x: `before` elements up to the first multiple of 16 bytes, `packs` packs from there, and the
// rest. `loose`: elements of no pack.
template <class T>
struct Parts {
  const T* x;
  const T* packed;
  int n, before, packs, loose;
};

// copies: counters of each slot, a power of two, at most kLanes; slot_bytes: their bytes. Dynamic
// shared memory: slot_bytes for each slot, and for what is outside.
template <class T>
__global__ void __launch_bounds__(kMostThreads, 1)
    privatized(Parts<T> parts, std::int32_t* counts, int copies, int slot_bytes, Bins<T> bins) {
  constexpr int kCount = kPackElements<T>;
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int step = static_cast<int>(gridDim.x) * threads;
  int at = static_cast<int>(blockIdx.x) * threads + thread;
  StoredPack<T, kCount> pack[kAhead];
  const auto ask = [&](int k, int of) {
    if (of < parts.packs) pack[k].load(parts.packed + static_cast<std::int64_t>(of) * kCount);
  };
  KG_UNROLL
  for (int k = 0; k < kAhead; ++k) ask(k, at + k * step);

  std::int32_t* const counter = dynamic_shared<std::int32_t>();
  std::int32_t* const own = counter + Bins<T>::kOutside * copies; // slot s, copy c: s * copies + c
  for (int i = thread; i < (Bins<T>::kOutside + bins.slots()) * copies; i += threads)
    counter[i] = 0;
  __syncthreads();

  // Addresses in bytes take one multiplication each, and no shift.
  char* const mine = reinterpret_cast<char*>(own + (thread & (copies - 1)));
  const auto add = [&](T element) {
    atomicAdd(reinterpret_cast<std::int32_t*>(mine + bins.slot(element) * slot_bytes), 1);
  };
  for (; at < parts.packs; at += kAhead * step) {
    KG_UNROLL
    for (int k = 0; k < kAhead; ++k) {
      if (at + k * step >= parts.packs) break;
      pack[k].keep_raw(); // otherwise nvcc takes bytes apart as soon as they arrive
      const Pack<T, kCount> now = pack[k].pack();
      KG_UNROLL
      for (const T element : now.element) add(element);
      ask(k, at + (k + kAhead) * step);
    }
  }
  if (blockIdx.x == 0 && thread < parts.loose)
    add(parts.x[thread < parts.before ? thread : parts.n - parts.loose + thread]);
  __syncthreads();

  // The lanes of a warp begin at different copies, so that they meet in no bank.
  const int first = thread % kLanes * copies / kLanes;
  for (int slot = thread; slot < bins.slots(); slot += threads) {
    const int bin = bins.bin_of(slot);
    if (bin < 0) continue;
    std::int32_t sum = 0;
    for (int k = 0; k < copies; ++k) sum += own[slot * copies + ((first + k) & (copies - 1))];
    if (sum != 0) atomicAdd(counts + bin, sum);
  }
}

namespace {

template <class T>
Bins<T> bins_of(const Problem& problem) {
  Bins<T> bins;
  bins.count = static_cast<int>(problem.bins);
  if constexpr (std::is_same_v<T, float>) {
    bins.lower = static_cast<float>(problem.lower);
    bins.upper = static_cast<float>(problem.upper);
    bins.scale = static_cast<float>(problem.bins) / (bins.upper - bins.lower);
    require(static_cast<double>(bins.lower) == problem.lower &&
                static_cast<double>(bins.upper) == problem.upper && std::isfinite(bins.scale) &&
                bins.scale > 0,
            "histogram: the bounds are " + std::to_string(problem.lower) + " and " +
                std::to_string(problem.upper) + "; they must be numbers of f32 not too far apart");
  } else {
    constexpr double kLeast = std::numeric_limits<T>::min();
    constexpr double kBeyond = std::numeric_limits<T>::max() + 1.0;
    const double width = (problem.upper - problem.lower) / static_cast<double>(problem.bins);
    require(problem.lower >= kLeast && problem.upper <= kBeyond && width == std::floor(width) &&
                problem.lower == std::floor(problem.lower),
            "histogram: " + std::to_string(problem.bins) + " bins from " +
                std::to_string(problem.lower) + " to " + std::to_string(problem.upper) +
                "; they must have a whole number of integers each");
    bins.lower = static_cast<std::int32_t>(problem.lower);
    if constexpr (sizeof(T) == 1) {
      bins.upper = static_cast<int>(problem.upper);
      bins.multiplier = (1 << 16) / static_cast<int>(width) + 1;
    } else {
      bins.last = static_cast<std::uint32_t>(problem.upper - problem.lower - 1);
      if (problem.bins > 1) {
        bins.width = NarrowDivisor(static_cast<std::int64_t>(width));
      } else { // every quotient is 0, up to a bin of 2^32
        bins.width.multiplier = 0;
        bins.width.shift = 32;
      }
    }
  }
  return bins;
}

template <class T>
Parts<T> parts_of(const T* x, int n) {
  constexpr int kCount = kPackElements<T>;
  const int before = std::min(elements_to_boundary(x), n);
  const int packs = (n - before) / kCount;
  return {x, x + before, n, before, packs, n - packs * kCount};
}

std::size_t counter_bytes(int slots, int copies) {
  return sizeof(std::int32_t) * static_cast<std::size_t>(slots) * static_cast<std::size_t>(copies);
}

// As many copies of `slots` slots and one for what is outside as kCounters allows, and the device:
// with 64 KiB a block, 512 bins have 16.
int copies_of(int slots) {
  int copies = kLanes;
  while (slots * copies > kCounters ||
         counter_bytes(slots + 1, copies) > device_properties().shared_bytes_per_block_optin)
    copies /= 2;
  return copies;
}

} // namespace

template <class T>
Variant run(const Problem& problem, const T* x, std::int32_t* counts, Variant variant,
            Stream& stream) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const auto [n, bins, lower, upper] = problem;
  require_extent("histogram: n", n);
  require_extent("histogram: bins", bins);
  require(n <= kMost && bins <= kMost, "histogram: n or bins is beyond 2^31 - 1; count parts");
  require(lower < upper, "histogram: upper is " + std::to_string(upper) +
                             "; it must be above lower, " + std::to_string(lower));
  variant = resolved(variant, bins);
  require(supports(variant, bins), "histogram: privatized has at most " +
                                       std::to_string(kSharedBins) + " bins, not " +
                                       std::to_string(bins) + "; use naive");
  if (bins == 0) return variant;
  require_elements("histogram: x", x, n);
  require_elements("histogram: counts", counts, bins);
  if (n > 0)
    require_apart("histogram: x", x, n * static_cast<std::int64_t>(sizeof(T)), "counts", counts,
                  bins * static_cast<std::int64_t>(sizeof *counts));
  const Bins<T> each = bins_of<T>(problem);
  launch(clear_words<std::int32_t>,
         {.grid = static_cast<unsigned>(div_up(bins, kClearThreads)),
          .block = kClearThreads,
          .stream = &stream},
         counts, bins);
  if (n == 0) return variant;
  if (variant == Variant::naive) {
    launch(naive<T>,
           {.grid = static_cast<unsigned>(div_up(n, kNaiveThreads)),
            .block = kNaiveThreads,
            .stream = &stream},
           x, counts, n, each);
    return variant;
  }
  const Parts<T> parts = parts_of(x, static_cast<int>(n));
  const int copies = copies_of(each.slots());
  const int multiprocessors = device_properties().sm_count;
  int threads = kMostThreads;
  while (threads > kLeastThreads && parts.packs < threads * multiprocessors) threads /= 2;
  const std::int64_t blocks =
      std::clamp(div_up(parts.packs, threads), std::int64_t{1}, std::int64_t{multiprocessors});
  launch(privatized<T>,
         {.grid = static_cast<unsigned>(blocks),
          .block = static_cast<unsigned>(threads),
          .shared_bytes = counter_bytes(Bins<T>::kOutside + each.slots(), copies),
          .stream = &stream},
         parts, counts, copies, counter_bytes(1, copies), each);
  return variant;
}

template <class T>
Work work(const Problem& problem) {
  const auto n = static_cast<double>(problem.n);
  const double written = sizeof(std::int32_t) * static_cast<double>(problem.bins);
  return {.bytes = sizeof(T) * n + written, .written = written, .flops = n};
}

template Variant run(const Problem&, const float*, std::int32_t*, Variant, Stream&);
template Variant run(const Problem&, const std::int32_t*, std::int32_t*, Variant, Stream&);
template Variant run(const Problem&, const std::int8_t*, std::int32_t*, Variant, Stream&);
template Work work<float>(const Problem&);
template Work work<std::int32_t>(const Problem&);
template Work work<std::int8_t>(const Problem&);

} // namespace kg::histogram
