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
  static constexpr int kGroup = kChunks % 8 == 0 ? 8 : 4; // chunks that swizzling exchanges
  static_assert(kChunks % 4 == 0, "chunks are swizzled by fours at least");
  static_assert(kRows % (kThreads / kGroup) == 0, "each thread copies as many rows");

  // Where a chunk lies, in elements.
  __device__ static constexpr int place(int row, int chunk) {
    return (row * kChunks + (chunk ^ (kGroup == 8 ? row % 8 : row / 2 % 4))) * kChunk;
  }

  // Copies `rows` rows of `depth` elements, a multiple of 8, that lie `stride` apart;
  // asynchronously where 16-byte accesses are aligned (vector). What does not exist is 0. As many
  // neighbouring threads copy a row as there are chunks in a group: in whole sectors, and to 32
  // different banks.
  __device__ __forceinline__ static void fetch(const T* from, std::int64_t stride, int rows,
                                               int depth, bool vector, T* tile) {
    unsigned thread = threadIdx.x;
    ptx::make_opaque(thread); // what is made of it ahead of a loop takes registers
    const int first = static_cast<int>(thread / kGroup), own = static_cast<int>(thread % kGroup);
    constexpr int kStep = kThreads / kGroup;
    static_assert(kStep % 8 == 0, "rows of a thread turn alike");
    if (!vector) {
      for (int item = first; item < kRows * kChunks / kGroup; item += kStep)
        copy_elements(from, stride, rows, depth, item % kRows, item / kRows * kGroup + own, tile);
      return;
    }
    const T* source = from + first * stride + own * kChunk; // products for each row take registers
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

  // Fragments begin at rows that are multiples of 16 and at even chunks, which the code knows;
  // which row and chunk from there on a lane points to, it knows of itself. Where that lies from
  // `row` 0 and chunk 0 on is all that a thread keeps; kept apart, the addresses would take 64
  // registers.
  //
  // of_rows: 16 rows of 2 chunks: operand a, or with _trans two operands b whose rows these are.
  // of_columns: two operands b whose columns these are.
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
