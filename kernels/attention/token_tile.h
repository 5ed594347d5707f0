// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of Q, K or V in shared memory, for variant flash: how they are copied there, and how a warp
// reads fragments of them.
//
// Rows consist of chunks of 8 elements, 16 bytes, and chunks are swizzled so that the same chunk of
// 8 neighbouring rows, which ldmatrix reads at once, lies in 8 different quarters of the banks:
// chunk c of row r lies where c ^ turn(r) would. A row of a multiple of 128 bytes turns by r modulo
// 8; one of 192 bytes moves on by half of the banks from row to row by itself, and turns by r / 2
// modulo 4.
#pragma once

#include "primitives/pack.h"
#include "ptx/cp_async.h"
#include "ptx/ldmatrix.h"
#include "ptx/store_shared.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention {

inline constexpr int kChunk = 8;

// T: f16 or bf16. kDepth: elements of a row in shared memory, a multiple of 32.
template <class T, int kRows, int kDepth, int kThreads>
struct TokenTile {
  static constexpr int kChunks = kDepth / kChunk;
  static constexpr int kElements = kRows * kDepth;
  static_assert(kChunks % 4 == 0, "chunks are swizzled by fours at least");
  static_assert(kRows * kChunks % kThreads == 0, "each thread copies as many chunks");

  // Where a chunk lies, in elements.
  __device__ static constexpr int place(int row, int chunk) {
    return (row * kChunks + (chunk ^ (kChunks % 8 == 0 ? row % 8 : row / 2 % 4))) * kChunk;
  }

  // Copies `rows` rows of `depth` elements, a multiple of 8, that lie `stride` apart;
  // asynchronously where 16-byte accesses are aligned (vector). What does not exist is 0.
  __device__ __forceinline__ static void fetch(const T* from, std::int64_t stride, int rows,
                                               int depth, bool vector, T* tile) {
    const auto thread = static_cast<int>(threadIdx.x);
    if (vector) {
      KG_UNROLL
      for (int i = 0; i < kRows * kChunks / kThreads; ++i) {
        const int item = thread + i * kThreads;
        const int row = item / kChunks, chunk = item % kChunks;
        const bool exists = row < rows && chunk * kChunk < depth;
        ptx::cp_async_cg(tile + place(row, chunk),
                         exists ? from + row * stride + chunk * kChunk : from, exists ? 16 : 0);
      }
    } else {
      for (int item = thread; item < kRows * kChunks; item += kThreads) {
        const int row = item / kChunks, chunk = item % kChunks;
        const bool exists = row < rows && chunk * kChunk < depth;
        Pack<T, kChunk> elements;
        KG_UNROLL
        for (int e = 0; e < kChunk; ++e)
          elements.element[e] = exists ? from[row * stride + chunk * kChunk + e] : from_float<T>(0);
        ptx::store_shared(reinterpret_cast<Pack<T, kChunk>*>(tile + place(row, chunk)), elements);
      }
    }
  }

  // Operand a of mma: 16 rows from `row` on, of 16 elements from chunk `chunk` on.
  __device__ __forceinline__ static void load_a(unsigned (&fragment)[4], const T* tile, int row,
                                                int chunk) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    ptx::ldmatrix(fragment, tile + place(row + lane % 16, chunk + lane / 16));
  }

  // Two operands b, whose columns are 16 rows of the tile: Q K^T.
  __device__ __forceinline__ static void load_columns(unsigned (&fragment)[4], const T* tile,
                                                      int row, int chunk) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    ptx::ldmatrix(fragment, tile + place(row + lane % 8 + lane / 16 * 8, chunk + lane / 8 % 2));
  }

  // Two operands b, whose rows are 16 rows of the tile, of 8 columns each: P V.
  __device__ __forceinline__ static void load_rows(unsigned (&fragment)[4], const T* tile, int row,
                                                   int chunk) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    ptx::ldmatrix_trans(fragment, tile + place(row + lane % 16, chunk + lane / 16));
  }
};

} // namespace kg::attention
