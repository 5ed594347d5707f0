// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiled matrix product on Tensor Cores: the main loop of a block along k, through a ring of slices
// in shared memory, and the output of its sums. The kernel defines how slices are copied and where
// the sums go.
//
// While one slice of the ring is used, copies of the others are in flight. One barrier per slice
// marks its arrival and frees the oldest slice.
#pragma once

#include "ops/gemm/mma_tile.h"

#include "instructions/cp_async.h"
#include "instructions/named_barrier.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::gemm {

// A warp's part of a tile, of which only some rows and columns exist.
struct WarpPart {
  int row, column;
  bool exists; // else the warp only copies
};
template <MmaTile kTile = kMma>
__device__ __forceinline__ WarpPart warp_part(int rows, int columns) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp / kTile.warps_n() * kWarpExtent;
  const int column = warp % kTile.warps_n() * kWarpExtent;
  return {row, column, row < rows && column < columns};
}

// A lane's readers of both operands' slices; A's slice comes first.
template <class T, class SliceA, class SliceB>
struct Readers {
  typename SliceA::template Reader<true> of_a;
  typename SliceB::template Reader<false> of_b;
  __device__ __forceinline__ explicit Readers(const WarpPart& own)
      : of_a(own.row, dynamic_shared<T>()),
        of_b(own.column, dynamic_shared<T>() + SliceA::kElements) {}
};

// The slices along k.
struct Slices {
  int count, last_depth; // last_depth: steps of k in the last slice
  template <class T>
  __device__ static Slices of(std::int64_t steps) {
    const auto count = static_cast<int>((steps + kDepth<T> - 1) / kDepth<T>);
    return {count, static_cast<int>(steps - (count - 1) * std::int64_t{kDepth<T>})};
  }
  template <class T>
  __device__ int depth(int slice) const {
    return slice + 1 < count ? kDepth<T> : slice < count ? last_depth : 0;
  }
};

// Adds the products of `steps` steps of k to `sum`, steps >= 0. fetch(slice, depth, a, b) starts
// the copy of slice number `slice` of both operands, of which `depth` steps exist; called in order.
template <class T, class SliceA, class SliceB, MmaTile kTile = kMma, class Fetch>
__device__ __forceinline__ void multiply_slices(std::int64_t steps, const WarpPart& own,
                                                const Fetch& fetch, WarpSum& sum) {
  constexpr int kStage = SliceA::kElements + SliceB::kElements;
  T* const shared = dynamic_shared<T>();
  const Slices slices = Slices::of<T>(steps);
  const Readers<T, SliceA, SliceB> readers(own);
  const auto fetch_slice = [&](int slice) __attribute__((always_inline)) {
    if (slice < slices.count) {
      T* const a = shared + slice % kTile.slices * kStage;
      fetch(slice, slices.depth<T>(slice), a, a + SliceA::kElements);
    }
    ptx::cp_async_commit(); // empty at the end, to keep the group count constant
  };

  KG_ROLLED
  for (int slice = 1 - kTile.slices; slice < slices.count; ++slice) {
    if (slice >= 0) {
      ptx::cp_async_wait_group<kTile.slices - 2>();
      __syncthreads();
    }
    fetch_slice(slice + kTile.slices - 1); // a single call site, since the code is long
    if (slice < 0 || !own.exists) continue;
    const int at = slice % kTile.slices * kStage;
    KG_UNROLL
    for (int step = 0; step < kSteps; ++step) {
      Fragments fragments;
      KG_UNROLL
      for (int i = 0; i < kFragments; ++i) {
        readers.of_a.read(fragments.a[i], at, i, step);
        readers.of_b.read(fragments.b[i], at, i, step);
      }
      multiply<T>(fragments, sum, [](int) {});
    }
  }
}

// The same for operands copied by `copies_a` and `copies_b` (see MmaSlice::Copies). All iterations
// are identical, and the Tensor Cores always have MMAs to execute: each step's fragments are read
// during the MMAs of the previous step. The next slice arrives at the barrier before a slice's last
// step, so no warp waits longer than necessary.
//
// Copies start in the other half of a step than ldmatrix: between ldmatrix and a following copy,
// nvcc (13.0, sm_90a) inserts three dummy loads, which occupy the load/store units like real ones.
// Copies overwrite the previous slice, which all warps have finished before the last barrier.
// Source addresses are computed a step ahead: the load/store units read them from registers when
// the copy issues, and a warp that changes them earlier stalls. After the last slice, unused zeros
// are copied.
template <class T, class SliceA, class SliceB, MmaTile kTile, class CopiesA, class CopiesB>
__device__ __forceinline__ void multiply_whole(std::int64_t steps, const WarpPart& own,
                                               CopiesA& copies_a, CopiesB& copies_b, WarpSum& sum) {
  static_assert(kSteps == 2, "two sets of fragments");
  constexpr int kStage = SliceA::kElements + SliceB::kElements;
  constexpr int kCopies = CopiesA::kCount + CopiesB::kCount;
  constexpr int kAhead = kTile.slices - 1; // slices in flight
  constexpr int kPairsOfReads = 2 * kFragments, kPairsOfCopies = kPairs - kPairsOfReads;
  constexpr int kBarrier = 1; // shared by two loops, one for warps that only copy
  const Slices slices = Slices::of<T>(steps);
  const auto start = [&](int i, int depth, int at) __attribute__((always_inline)) {
    if (i < CopiesA::kCount)
      copies_a.start(i, depth, at);
    else
      copies_b.start(i - CopiesA::kCount, depth, at);
  };
  const auto start_all = [&](int depth, int at) __attribute__((always_inline)) {
    KG_UNROLL
    for (int i = 0; i < kCopies; ++i) start(i, depth, at);
  };
  const auto advance = [&]() __attribute__((always_inline)) {
    copies_a.advance();
    copies_b.advance();
  };

  KG_ROLLED
  for (int slice = 0; slice < kAhead; ++slice) {
    start_all(slices.depth<T>(slice), slice * kStage);
    ptx::cp_async_commit();
    advance();
  }
  ptx::cp_async_wait_group<kAhead - 1>();
  __syncthreads();

  // Runs first(depth, before) before the barrier and second(now, next) after it: `depth` steps of
  // the slice to copy, its offset `before`, and the offsets of this slice and the next.
  const auto walk = [&](const auto& first, const auto& second) __attribute__((always_inline)) {
    int before = kAhead * kStage, now = 0;
    KG_ROLLED
    for (int slice = 0; slice < slices.count; ++slice) {
      const int next = now + kStage == kTile.slices * kStage ? 0 : now + kStage;
      first(slices.depth<T>(slice + kAhead), before);
      ptx::cp_async_commit();
      ptx::cp_async_wait_group<kAhead - 1>();
      ptx::named_barrier_sync(kBarrier, kTile.threads());
      advance();
      second(now, next);
      before = now;
      now = next;
    }
  };
  if (own.exists) {
    Readers<T, SliceA, SliceB> readers(own);
    Fragments even, odd;
    // Reads the fragments due at a pair of MMAs.
    const auto read = [&](int pair, int step, int further, Fragments& to)
        __attribute__((always_inline)) {
      KG_UNROLL
      for (int i = 0; i < kFragments; ++i) {
        if (pair == 2 * i) {
          if (step == 0) readers.of_a.advance(i, further);
          readers.of_a.read(to.a[i], 0, i, step);
        }
        if (pair == 2 * i + 1) {
          if (step == 0) readers.of_b.advance(i, further);
          readers.of_b.read(to.b[i], 0, i, step);
        }
      }
    };
    KG_UNROLL
    for (int pair = 0; pair < kPairsOfReads; ++pair) read(pair, 0, 0, even);
    walk(
        [&](int depth, int before) __attribute__((always_inline)) {
          multiply<T>(
              even, sum, [&](int pair) __attribute__((always_inline)) {
                read(pair, 1, 0, odd);
                KG_UNROLL
                for (int i = 0; i < kCopies; ++i)
                  if (kPairsOfReads + i * kPairsOfCopies / kCopies == pair) start(i, depth, before);
              });
        },
        [&](int now, int next) __attribute__((always_inline)) {
          multiply<T>(
              odd, sum, [&](int pair) __attribute__((always_inline)) {
                read(pair, 0, next - now, even);
              });
        });
  } else {
    walk(
        [&](int depth, int before) __attribute__((always_inline)) { start_all(depth, before); },
        [](int, int) {});
  }
  ptx::cp_async_wait_all(); // before others reuse shared memory after a barrier
}

// Passes a tile, of which `rows` rows exist, half by half through shared memory to use(first,
// count, sums): `count` rows starting at `first`, kTile.pitch() floats apart.
template <MmaTile kTile = kMma, class Use>
__device__ __forceinline__ void each_half(const WarpSum& sum, const WarpPart& own, int rows,
                                          const Use& use) {
  float* const half = dynamic_shared<float>();
  for (int first = 0; first < rows; first += kWarpExtent) {
    __syncthreads();
    if (own.row == first) gather<kTile.pitch()>(sum, own.column, half);
    __syncthreads();
    use(first, rows - first < kWarpExtent ? rows - first : kWarpExtent, half);
  }
}

} // namespace kg::gemm
