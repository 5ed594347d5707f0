// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A tile of rows of Q, K or V in shared memory, for variant flash: the copy from global memory, and
// the addresses from which a warp loads fragments.
//
// A row consists of chunks of 8 elements (16 bytes). Chunks are swizzled so that ldmatrix, which
// reads the same chunk of 8 neighbouring rows at once, has no bank conflicts. Chunk c of row r is
// stored at position c ^ swizzle(r). Rows of a multiple of 128 bytes use swizzle(r) = r % 8. Rows
// of 192 bytes are already offset from each other by half of the banks, and use r / 2 % 4.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/ldmatrix.h"
#include "instructions/opaque.h"
#include "instructions/store_shared.h"
#include "primitives/pack.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention {

inline constexpr int kChunk = 8;

// T: f16 or bf16. kDepth: elements of a row in shared memory, a multiple of 32.
template <class T, int kRows, int kDepth, int kThreads>
struct TokenTile {
  static constexpr int kChunks = kDepth / kChunk;
  static constexpr int kElements = kRows * kDepth;
  static constexpr int kGroup = kChunks % 8 == 0 ? 8 : 4; // chunks permuted by the swizzle
  static_assert(kChunks % 4 == 0, "chunks are swizzled by fours at least");
  static_assert(kRows % (kThreads / kGroup) == 0, "each thread copies as many rows");

  // The offset of a chunk in the tile, in elements.
  __device__ static constexpr int place(int row, int chunk) {
    return (row * kChunks + (chunk ^ (kGroup == 8 ? row % 8 : row / 2 % 4))) * kChunk;
  }

  // Copies `rows` rows of `depth` elements (a multiple of 8), `stride` elements apart, and fills
  // the rest of the tile with 0. With `vector` the source is aligned to 16 bytes and the copy is
  // asynchronous. kGroup neighbouring threads copy a row, in whole sectors and to 32 different
  // banks.
  __device__ __forceinline__ static void fetch(const T* from, std::int64_t stride, int rows,
                                               int depth, bool vector, T* tile) {
    unsigned thread = threadIdx.x;
    ptx::make_opaque(thread); // keeps values derived from it from being hoisted into registers
    const int first = static_cast<int>(thread / kGroup), own = static_cast<int>(thread % kGroup);
    constexpr int kStep = kThreads / kGroup;
    static_assert(kStep % 8 == 0, "rows of a thread turn alike");
    if (!vector) {
      for (int item = first; item < kRows * kChunks / kGroup; item += kStep)
        copy_elements(from, stride, rows, depth, item % kRows, item / kRows * kGroup + own, tile);
      return;
    }
    const T* source = from + first * stride + own * kChunk; // advanced by steps, to save registers
    T* const to = tile + place(first, own);
    const int rows_left = rows - first, depth_left = depth - own * kChunk;
    KG_UNROLL_UNIFORM
    for (int row = 0; row < kRows; row += kStep, source += kStep * stride) {
      KG_UNROLL_UNIFORM
      for (int chunk = 0; chunk < kChunks; chunk += kGroup) {
        const bool exists = row < rows_left && chunk * kChunk < depth_left;
        ptx::cp_async_cg(to + (row * kDepth + chunk * kChunk), source + chunk * kChunk,
                         exists ? 16 : 0);
      }
    }
  }
  __device__ __forceinline__ static void copy_elements(const T* from, std::int64_t stride, int rows,
                                                       int depth, int row, int chunk, T* tile) {
    const bool exists = row < rows && chunk * kChunk < depth;
    Pack<T, kChunk> elements;
    KG_UNROLL_UNIFORM
    for (int e = 0; e < kChunk; ++e)
      elements.element[e] = exists ? from[row * stride + chunk * kChunk + e] : from_float<T>(0);
    ptx::store_shared(reinterpret_cast<Pack<T, kChunk>*>(tile + place(row, chunk)), elements);
  }

  // A fragment starts at a compile-time row (a multiple of 16) and an even chunk. The lane adds a
  // fixed offset, of_rows() or of_columns(), which at() combines by XOR. A thread keeps one
  // register per tile instead of up to 64 addresses.
  //
  // of_rows(): the lane's offset in 16 rows of 2 chunks. ldmatrix makes operand a of them, and
  // ldmatrix_trans two operands b with these rows.
  // of_columns(): the lane's offset for two operands b whose columns are the tile's rows.
  __device__ __forceinline__ static int of_rows() {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return place(lane % 16, lane / 16);
  }
  __device__ __forceinline__ static int of_columns() {
    const int lane = static_cast<int>(threadIdx.x % 32);
    return place(lane % 8 + lane / 16 * 8, lane / 8 % 2);
  }
  __device__ __forceinline__ static const T* at(const T* tile, int lane, int row, int chunk) {
    return tile + (row * kDepth + chunk / kGroup * kGroup * kChunk) +
           (lane ^ (chunk % kGroup * kChunk));
  }
};

} // namespace kg::attention
