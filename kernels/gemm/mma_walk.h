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

#include "gemm/mma_tile.h"

#include "ptx/cp_async.h"
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

  // A quarter of the fragments of a step of the slices `at` elements further.
  __device__ __forceinline__ void read(int quarter, int at, int step, Fragments& to) const {
    of_a.read(to.a[quarter], at, quarter, step);
    of_b.read(to.b[quarter], at, quarter, step);
  }
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
      for (int quarter = 0; quarter < 4; ++quarter) readers.read(quarter, at, step, fragments);
      multiply<T>(fragments, sum, [](int) {});
    }
  }
}

// The same of operands that come by `copies_a` and `copies_b` (as MmaSlice::Copies): nothing in the
// loop depends on where it is, and the matrix units always have something to multiply. Fragments
// are read a step ahead, those of the next slice before the last step of this one, whose place is
// overwritten meanwhile: everybody has its last fragments in registers when the barrier says that
// the next slice has come. Behind the last slice zeros are copied, which nobody multiplies.
template <class T, class SliceA, class SliceB, MmaTile kTile, class CopiesA, class CopiesB>
__device__ __forceinline__ void multiply_whole(std::int64_t steps, const WarpPart& own,
                                               CopiesA& copies_a, CopiesB& copies_b, WarpSum& sum) {
  static_assert(kSteps == 2, "two sets of fragments");
  constexpr int kStage = SliceA::kElements + SliceB::kElements;
  const Slices slices = Slices::of<T>(steps);
  const Readers<T, SliceA, SliceB> readers(own);
  const auto read = [&](int half, int at, int step, Fragments& to) __attribute__((always_inline)) {
    readers.read(2 * half, at, step, to);
    readers.read(2 * half + 1, at, step, to);
  };
  const auto start = [&](int half, int depth, int at) __attribute__((always_inline)) {
    KG_UNROLL
    for (int i = half; i < CopiesA::kCount; i += 2) copies_a.start(i, depth, at);
    KG_UNROLL
    for (int i = half; i < CopiesB::kCount; i += 2) copies_b.start(i, depth, at);
  };
  const auto go_on = [&]() __attribute__((always_inline)) {
    copies_a.advance();
    copies_b.advance();
    ptx::cp_async_commit();
  };

  KG_ROLLED
  for (int slice = 0; slice < kTile.slices; ++slice) {
    start(0, slices.depth<T>(slice), slice * kStage);
    start(1, slices.depth<T>(slice), slice * kStage);
    go_on();
  }
  ptx::cp_async_wait_group<kTile.slices - 1>();
  __syncthreads();
  Fragments even, odd;
  if (own.exists) {
    read(0, 0, 0, even);
    read(1, 0, 0, even);
  }
  int now = 0;
  KG_ROLLED
  for (int slice = 0; slice < slices.count; ++slice) {
    const int depth = slices.depth<T>(slice + kTile.slices);
    const int next = now + kStage == kTile.slices * kStage ? 0 : now + kStage;
    if (own.exists)
      multiply<T>(
          even, sum, [&](int quarter) __attribute__((always_inline)) {
            if (quarter < 2) read(quarter, now, 1, odd);
          });
    ptx::cp_async_wait_group<kTile.slices - 2>();
    __syncthreads();
    if (own.exists) {
      multiply<T>(
          odd, sum, [&](int quarter) __attribute__((always_inline)) {
            quarter < 2 ? read(quarter, next, 0, even) : start(quarter - 2, depth, now);
          });
    } else {
      start(0, depth, now);
      start(1, depth, now);
    }
    go_on();
    now = next;
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
