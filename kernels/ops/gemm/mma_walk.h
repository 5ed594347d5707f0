// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A matrix product by tiles on the matrix units: how a block walks along k, through a ring of
// slices in shared memory, and how its sums get out of the registers. What is copied into a slice,
// and where the sums go, is for the kernel to say.
//
// While one slice of the ring is used, the copies of the others are under way. One barrier per
// slice says that it has come and that the oldest one may be overwritten.
#pragma once

#include "ops/gemm/mma_tile.h"

#include "instructions/cp_async.h"
#include "instructions/named_barrier.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::gemm {

// A warp's part of a tile of which some rows and columns exist.
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

// What a lane reads of the slices of both operands, that of A first.
template <class T, class SliceA, class SliceB>
struct Readers {
  typename SliceA::template Reader<true> of_a;
  typename SliceB::template Reader<false> of_b;
  __device__ __forceinline__ explicit Readers(const WarpPart& own)
      : of_a(own.row, dynamic_shared<T>()),
        of_b(own.column, dynamic_shared<T>() + SliceA::kElements) {}
};

// What is walked along k.
struct Slices {
  int count, last_depth; // steps of k of the last one
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

// Adds the products of `steps` steps of k to `sum`, steps >= 0. fetch(slice, depth, a, b) starts to
// copy slice number `slice`, of which `depth` steps exist, of both operands; slices follow each
// other.
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
    ptx::cp_async_commit(); // empty at the end, so that the count of groups stays the same
  };

  KG_ROLLED
  for (int slice = 1 - kTile.slices; slice < slices.count; ++slice) {
    if (slice >= 0) {
      ptx::cp_async_wait_group<kTile.slices - 2>();
      __syncthreads();
    }
    fetch_slice(slice + kTile.slices - 1); // in one place of the code, long as it is
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

// The same of operands that come by `copies_a` and `copies_b` (as MmaSlice::Copies): nothing in the
// loop depends on where it is, and the matrix units always have something to multiply. What a step
// of k needs is read beside the multiplications of the step before; so the barrier before the last
// step of a slice, behind which the next slice has come, lets nothing wait that it does not have
// to.
//
// Copies start beside the other half of a step's multiplications than ldmatrix: nvcc puts three
// loads that read nothing between the one and a copy that follows it (13.0, sm_90a), and those
// occupy the load/store units as long as true ones. They go where the slice before was, which all
// warps have left behind the last barrier. Where they come from is found a step before they start:
// the load/store units read that from registers when their turn comes, and until then a warp that
// changes it stands still. Behind the last slice zeros are copied, which nobody multiplies.
template <class T, class SliceA, class SliceB, MmaTile kTile, class CopiesA, class CopiesB>
__device__ __forceinline__ void multiply_whole(std::int64_t steps, const WarpPart& own,
                                               CopiesA& copies_a, CopiesB& copies_b, WarpSum& sum) {
  static_assert(kSteps == 2, "two sets of fragments");
  constexpr int kStage = SliceA::kElements + SliceB::kElements;
  constexpr int kCopies = CopiesA::kCount + CopiesB::kCount;
  constexpr int kAhead = kTile.slices - 1; // slices that are under way
  constexpr int kPairsOfReads = 2 * kFragments, kPairsOfCopies = kPairs - kPairsOfReads;
  constexpr int kBarrier = 1; // of two loops, one for warps that only copy
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

  // first(depth, before), then second(now, next): what to do before and behind the barrier; with
  // what exists of the slice to be copied, where it goes, and where this one and the next lie.
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
    // Beside a pair of multiplications.
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
  ptx::cp_async_wait_all(); // for others to use the shared memory, behind a barrier
}

// Hands a tile on, of which `rows` exist, half by half through shared memory. use(first, count,
// sums): the rows from `first` on, kTile.pitch() floats apart.
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
