// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Global pooling of nchw planes of which shared memory holds several. A block copies consecutive
// planes, 16 bytes at a time, also across their ends. One thread or several lanes reduce a plane;
// each lane takes a contiguous run. The order is fixed and the same for each plane, wherever it
// starts.
//
// Bytes: x once; y is negligible. Expected on an H200: 90 % of its read bandwidth. A multiprocessor
// has the planes of 12 blocks in flight or in use, 16 KiB each. 7 x 7 planes in 16 bits take 375
// warp instructions per 3 KiB, of 670 that an H200 issues while it reads them; shared memory is
// busy half of that time. A warp per plane (global.h) takes 100 instructions per 98 bytes and had
// 18 % of copy bandwidth there (bf16).
//
// Bank conflicts: planes, and runs within a plane, start an odd number of packs or elements apart.
// So one or two lanes access the same bank, rarely more.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/shared_pointer.h"
#include "ops/pooling/reduce.h"
#include "primitives/divisor.h"
#include "primitives/unpack_pairs.h"
#include "runtime/preconditions.h"

#include <cstdint>

namespace kg::pooling {

inline constexpr int kSmallThreads = 128;
inline constexpr int kSmallBytes = 16 * 1024; // of shared memory for planes

// How planes are distributed over blocks.
struct SmallPlanes {
  std::int64_t planes; // in total
  NarrowDivisor size;  // elements of a plane
  int stride;          // from plane to plane in shared memory
  int of_block;        // planes; whole packs, so all blocks share x's alignment
  NarrowDivisor lanes; // per plane, a power of two
  int run;             // elements per lane
};

// Elements per access to planes that are not whole packs.
template <class T>
inline constexpr int kWordElements = 4 / static_cast<int>(sizeof(T));

// For planes read Count elements at a time: packs if planes are whole packs, else words. of_block
// is 0 if no pack-aligned group of planes fits a block.
template <class T, int Count>
SmallPlanes small_planes_of(std::int64_t planes, std::int64_t size) {
  constexpr bool kPacks = Count == kPackElements<T>;
  constexpr std::int64_t kMost = kSmallBytes / sizeof(T);
  SmallPlanes s = {};
  if (size > kMost) return s;
  const auto odd = [](std::int64_t elements) {
    constexpr int kUnit = kPacks ? Count : 1;
    return static_cast<int>(div_up(elements, kUnit) | 1) * kUnit;
  };
  s.planes = planes;
  s.size = NarrowDivisor(size);
  s.stride = kPacks ? odd(size) : static_cast<int>(size);
  const auto fit = static_cast<int>(kMost / s.stride);
  const int whole = fit < kSmallThreads ? kPackElements<T> : kSmallThreads;
  s.of_block = fit / whole * whole;
  int lanes = 1;
  while (lanes < kLanes && 2 * lanes * s.of_block <= kSmallThreads) lanes *= 2;
  s.lanes = NarrowDivisor(lanes);
  s.run = lanes > 1 ? odd(div_up(size, lanes)) : static_cast<int>(size);
  return s;
}

// Reduces elements [at, end): Count per access, and singly the elements that do not fill an access.
// The i-th elements of all accesses form chain i of additions. If a plane begins within a word, its
// two chains swap roles, and their sum has the same bits.
template <class Reduce, class T, int Count>
__device__ __forceinline__ float reduce_run(ptx::SharedPointer<T> memory, int at, int end) {
  constexpr int kAtOnce = Count > 2 ? 4 : 8; // loads before the first use
  Floats<Count> result = identity<Reduce, Count>();
  const auto take_single = [&](float& chain) {
    const T element = memory[at++];
    chain = Reduce::combine(chain, to_float(element));
  };
  const auto take = [&]<int kAccesses>() {
    StoredPack<T, Count> stored[kAccesses];
    KG_UNROLL
    for (int a = 0; a < kAccesses; ++a) stored[a].load(&memory[at + a * Count]);
    loaded(stored);
    KG_UNROLL
    for (int a = 0; a < kAccesses; ++a) combine<Reduce>(result, unpack_pairs(stored[a]));
    at += kAccesses * Count;
  };
  if (Count == 2 && at % 2 != 0 && at < end) take_single(result.value[Count - 1]);
  KG_ROLLED
  for (; at + kAtOnce * Count <= end;) take.template operator()<kAtOnce>();
  KG_ROLLED
  for (; at + Count <= end;) take.template operator()<1>();
  if (Count == 2 && at < end) take_single(result.value[0]);
  float total = result.value[0];
  KG_UNROLL
  for (int e = 1; e < Count; ++e) total = Reduce::combine(total, result.value[e]);
  return total;
}

// Count: as in small_planes_of.
template <class Reduce, class T, int Count>
__global__ void __launch_bounds__(kSmallThreads)
    small_planes(const T* __restrict__ x, T* __restrict__ y, SmallPlanes s) {
  constexpr int kPack = kPackElements<T>;
  alignas(kPackBytes) __shared__ T memory[(kSmallBytes + kPackBytes) / sizeof(T)];
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * s.of_block;
  const auto planes = static_cast<int>(min(s.planes - first, std::int64_t{s.of_block}));
  const auto size = static_cast<int>(s.size.value);
  const T* const from = x + first * size;
  const int elements = planes * size;
  const auto thread = static_cast<int>(threadIdx.x);

  // Whole packs, aligned in shared memory as in x; then the elements around them.
  const int before = elements_to_boundary(from);
  const int past = (kPack - before) % kPack;
  const int body = (elements - before) / kPack * kPack;
  const ptx::SharedPointer<T> copies(memory);
  const T* const packs = from + before;
  KG_ROLLED
  for (int i = thread * kPack; i < body; i += kSmallThreads * kPack) {
    int to = past + before + i;
    if constexpr (Count == kPack)
      to += static_cast<int>(s.size.quotient(static_cast<unsigned>(i))) * (s.stride - size);
    ptx::cp_async_cg(copies + to, packs + i, kPackBytes);
  }
  if (thread < elements - body) {
    const int at = thread < before ? thread : body + thread;
    const T element = from[at];
    copies[past + at] = element;
  }
  ptx::cp_async_wait_all();
  __syncthreads();

  unsigned of_thread = threadIdx.x;
  const int run = static_cast<int>(s.lanes.take_last(of_thread)) * s.run; // its first element
  const int run_end = min(run + s.run, size);
  const typename Reduce::Finish finish(size);
  // Runs once if a plane has several lanes. All lanes take part in group_reduce.
  for (int begun = 0; begun < planes; begun += kSmallThreads) {
    const int plane = begun + static_cast<int>(of_thread);
    const bool exists = plane < planes;
    const int at = past + plane * s.stride;
    float total = Reduce::kIdentity;
    if (exists) total = reduce_run<Reduce, T, Count>(copies, at + run, at + run_end);
    total = group_reduce<Reduce>(total, static_cast<int>(s.lanes.value));
    if (exists && run == 0) y[first + plane] = from_float<T>(finish(total));
  }
}

} // namespace kg::pooling
