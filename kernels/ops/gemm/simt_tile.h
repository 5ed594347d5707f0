// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tiled f32 matrix product without Tensor Cores (gemm_tiled.cu explains the algorithm): slices of
// both operands in shared memory, and their product in the registers of a block's threads.
#pragma once

#include "instructions/store_shared.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::gemm {

// Elements of C per block (m x n) and per thread, and the depth of a slice.
struct Tile {
  int m, n, k, thread_m, thread_n;

  __host__ __device__ constexpr int threads_n() const { return n / thread_n; }
  __host__ __device__ constexpr int threads() const { return (m / thread_m) * threads_n(); }
};

inline constexpr Tile kTile{.m = 64, .n = 64, .k = 16, .thread_m = 8, .thread_n = 8};

// Elements of a 16-byte access, and of a 32-byte sector, the granularity of global memory reads.
inline constexpr int kQuad = 4;
inline constexpr int kSector = 8;

// How a block copies one operand's slice of `outer` (m or n) x `depth` (k) elements. along_k:
// neighbours in global memory differ in k (A not transposed, B transposed), else in m or n. vector:
// 16-byte loads are aligned.
struct Slice {
  int outer, depth, threads;
  bool along_k, vector;

  __host__ __device__ constexpr int width() const { return vector ? kQuad : 1; }
  __host__ __device__ constexpr int per_thread() const { return outer * depth / threads; }
  // Threads that read neighbouring addresses of one line of global memory.
  __host__ __device__ constexpr int lanes() const { return (along_k ? kSector : outer) / width(); }
  // Elements between rows in shared memory, with the gap of slot(). 4 modulo 8: see place().
  __host__ __device__ constexpr int pitch() const { return outer + kQuad; }
  __host__ __device__ constexpr int floats() const { return pitch() * depth; }
};

// Position of an element of a 64-element row in shared memory. The gap of 4 floats in the middle
// puts the quads that 8 neighbouring threads access at once, 8 floats apart, into 32 different
// banks.
__device__ constexpr int slot(int outer) { return outer + outer / 32 * kQuad; }

struct Place {
  int outer, k;
};

// The element of a slice that `thread` copies as its `item`-th; for vector slices, the first of 4
// along the contiguous dimension. A warp reads whole 32-byte sectors and stores to 32 different
// banks: along k, a warp stores 4 neighbours in each of 8 rows, or 16 neighbours in each of 2 rows
// 4 apart.
template <Slice kSlice>
__device__ constexpr Place place(int thread, int item) {
  constexpr int kLanes = kSlice.lanes();
  constexpr int kLines = kSlice.threads / kLanes;
  if constexpr (kSlice.along_k) {
    constexpr int kSteps = kSlice.depth / kSector;
    return {thread / kLanes + item / kSteps * kLines,
            thread % kLanes * kSlice.width() + item % kSteps * kSector};
  } else {
    return {thread % kLanes * kSlice.width(), thread / kLanes + item * kLines};
  }
}

// One operand as a thread block sees it.
struct Operand {
  const float* data;    // element (0, 0) of the slice
  std::int64_t leading; // elements between lines of global memory
  int outer;            // number of the slice's rows (A) or columns (B) that exist
};

// Reads the slice, of which `depth` steps of k exist; elements out of range become 0. A single
// running index addresses all items, since one address per item would exceed the registers.
template <Slice kSlice>
__device__ __forceinline__ void fetch(const Operand& from, int depth, int thread,
                                      float (&staged)[kSlice.per_thread()]) {
  constexpr int kWidth = kSlice.width();
  constexpr int kItems = kSlice.per_thread() / kWidth;
  constexpr int kSteps = kSlice.along_k ? kSlice.depth / kSector : 1;
  const std::int64_t next_line = kSlice.threads / kSlice.lanes() * from.leading;
  const Place first = place<kSlice>(thread, 0);
  std::int64_t index =
      kSlice.along_k ? first.outer * from.leading + first.k : first.k * from.leading + first.outer;
  if (from.outer == kSlice.outer && depth >= kSlice.depth) {
    KG_UNROLL
    for (int item = 0; item < kItems; ++item) {
      const float* source = from.data + index + item % kSteps * kSector;
      if constexpr (kSlice.vector) {
        const float4 quad = *reinterpret_cast<const float4*>(source);
        staged[item * kQuad + 0] = quad.x;
        staged[item * kQuad + 1] = quad.y;
        staged[item * kQuad + 2] = quad.z;
        staged[item * kQuad + 3] = quad.w;
      } else {
        staged[item] = *source;
      }
      if (item % kSteps == kSteps - 1) index += next_line;
    }
    return;
  }
  KG_UNROLL
  for (int item = 0; item < kItems; ++item) {
    KG_UNROLL
    for (int i = 0; i < kWidth; ++i) {
      Place at = place<kSlice>(thread, item);
      (kSlice.along_k ? at.k : at.outer) += i;
      const bool exists = at.outer < from.outer && at.k < depth;
      staged[item * kWidth + i] = exists ? from.data[index + item % kSteps * kSector + i] : 0.0f;
    }
    if (item % kSteps == kSteps - 1) index += next_line;
  }
}

template <Slice kSlice>
__device__ __forceinline__ void store(const float (&staged)[kSlice.per_thread()], int thread,
                                      float* slice) {
  constexpr int kWidth = kSlice.width();
  constexpr int kItems = kSlice.per_thread() / kWidth;
  KG_UNROLL
  for (int item = 0; item < kItems; ++item) {
    const Place at = place<kSlice>(thread, item);
    float* to = slice + at.k * kSlice.pitch() + slot(at.outer);
    if constexpr (kSlice.vector && !kSlice.along_k) {
      // The named variable keeps g++ from storing the members of float4{...} one by one.
      const float4 quad{staged[item * kQuad], staged[item * kQuad + 1], staged[item * kQuad + 2],
                        staged[item * kQuad + 3]};
      ptx::store_shared(reinterpret_cast<float4*>(to), quad);
    } else {
      KG_UNROLL
      for (int i = 0; i < kWidth; ++i) to[i * kSlice.pitch()] = staged[item * kWidth + i];
    }
  }
}

template <int kCount>
__device__ __forceinline__ void read(const float* from, float (&fragment)[kCount]) {
  KG_UNROLL
  for (int i = 0; i < kCount; i += kQuad) {
    const float4 quad = *reinterpret_cast<const float4*>(from + i);
    fragment[i + 0] = quad.x;
    fragment[i + 1] = quad.y;
    fragment[i + 2] = quad.z;
    fragment[i + 3] = quad.w;
  }
}

template <Tile kT, Slice kSliceA, Slice kSliceB>
__device__ __forceinline__ void multiply(const float* row_a, const float* row_b,
                                         float (&sum)[kT.thread_m][kT.thread_n]) {
  for (int k = 0; k < kT.k; ++k) {
    float a[kT.thread_m];
    float b[kT.thread_n];
    read(row_a + k * kSliceA.pitch(), a);
    read(row_b + k * kSliceB.pitch(), b);
    KG_UNROLL
    for (int i = 0; i < kT.thread_m; ++i) {
      KG_UNROLL
      for (int j = 0; j < kT.thread_n; ++j) sum[i][j] = fmaf(a[i], b[j], sum[i][j]);
    }
  }
}

// Writes a thread's sums to the tile of C in shared memory; rows are kT.n + kQuad floats apart and
// have the gap of slot().
template <Tile kT>
__device__ __forceinline__ void put(const float (&sum)[kT.thread_m][kT.thread_n], int thread_row,
                                    int thread_column, float* tile) {
  KG_UNROLL
  for (int i = 0; i < kT.thread_m; ++i) {
    float* row = tile + (thread_row + i) * (kT.n + kQuad) + slot(thread_column);
    KG_UNROLL
    for (int j = 0; j < kT.thread_n; j += kQuad) {
      // Not make_float4: x86-64 returns its result in two halves, and clang would compute the sums
      // in halves.
      const float4 quad = float4{sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]};
      ptx::store_shared(reinterpret_cast<float4*>(row + j), quad);
    }
  }
}

} // namespace kg::gemm
