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
__device__ __forceinline__ WarpPart warp_part(int rows, int columns) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp / kMma.warps_n() * kMma.warp;
  const int column = warp % kMma.warps_n() * kMma.warp;
  return {row, column, row < rows && column < columns};
}

// Adds the products of `steps` steps of k to `sum`, steps >= 0. fetch(slice, depth, a, b) starts to
// copy slice number `slice`, of which `depth` steps exist, of both operands; slices follow each
// other.
template <class T, class SliceA, class SliceB, class Fetch>
__device__ __forceinline__ void multiply_slices(std::int64_t steps, const WarpPart& own,
                                                const Fetch& fetch, WarpSum& sum) {
  T* const shared = dynamic_shared<T>();
  const auto slices = static_cast<int>((steps + kDepth<T> - 1) / kDepth<T>);
  const auto last_depth = static_cast<int>(steps - (slices - 1) * std::int64_t{kDepth<T>});
  const auto fetch_slice = [&](int slice) __attribute__((always_inline)) {
    if (slice < slices) {
      T* const a = shared + slice % kMma.slices * kSliceElements<T>;
      fetch(slice, slice + 1 == slices ? last_depth : kDepth<T>, a, a + SliceA::kElements);
    }
    ptx::cp_async_commit(); // empty at the end, so that the count of groups stays the same
  };

  for (int slice = 0; slice < kMma.slices - 1; ++slice) fetch_slice(slice);
  for (int slice = 0; slice < slices; ++slice) {
    ptx::cp_async_wait_group<kMma.slices - 2>();
    __syncthreads();
    fetch_slice(slice + kMma.slices - 1);
    const T* const a = shared + slice % kMma.slices * kSliceElements<T>;
    if (own.exists) multiply<T, SliceA, SliceB>(a, a + SliceA::kElements, own.row, own.column, sum);
  }
}

// Hands a tile on, of which `rows` exist, half by half through shared memory. use(first, count,
// sums): the rows from `first` on, kMma.pitch() floats apart.
template <class Use>
__device__ __forceinline__ void each_half(const WarpSum& sum, const WarpPart& own, int rows,
                                          const Use& use) {
  float* const half = dynamic_shared<float>();
  for (int first = 0; first < rows; first += kMma.warp) {
    __syncthreads();
    if (own.row == first) gather(sum, own.column, half);
    __syncthreads();
    use(first, rows - first < kMma.warp ? rows - first : kMma.warp, half);
  }
}

} // namespace kg::gemm
