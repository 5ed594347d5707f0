// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores a warp's part of wgmma's sums: 16 rows of a tile of C, rounded to T. Bulk copies write
// them to global memory while the warp continues. The warp stages them in shared memory of its own,
// so it waits for no other warp. Boxes of 16 rows by 128 bytes have the 128-byte swizzle, so the 8
// rows that one stmatrix writes lie in different banks. The copies skip elements outside of C.
//
// Architecture 9.0 and above.
#pragma once

#include "instructions/cp_async_bulk.h"
#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/stmatrix.h"
#include "instructions/store_shared.h"
#include "primitives/pack_pair.h"
#include "primitives/warpgroup_tile.h"

#include <cstdint>

namespace kg {

// T: float, f16, bf16. kStaged: the columns that are staged at a time.
template <class T, int kColumns, int kStaged = kColumns>
struct WarpStore {
  static constexpr int kRows = 16;
  static constexpr int kBoxColumns = kSwizzleBytes / static_cast<int>(sizeof(T));
  static constexpr int kBoxBytes = kRows * kSwizzleBytes;
  static constexpr int kBoxes = kStaged / kBoxColumns;
  static constexpr int kBytes = kBoxes * kBoxBytes; // of shared memory
  static_assert(kStaged % kBoxColumns == 0 && kColumns % kStaged == 0);

  // `rows` x `columns` elements, rows `leading` elements apart, of `count` matrices that lie
  // `stride` elements apart.
  static TensorMap map(T* data, TensorType type, std::int64_t rows, std::int64_t columns,
                       std::int64_t leading, std::int64_t count, std::int64_t stride) {
    return matrices_map(data, type, {columns, rows, count}, leading, stride,
                        {static_cast<unsigned>(kBoxColumns), static_cast<unsigned>(kRows)});
  }

  // Starts to store `scale` times the sums to matrix number `matrix`, from (`row`, `column`) on.
  // memory: kBytes, aligned to 1,024 bytes and reserved for the warp.
  __device__ static __forceinline__ void begin(const TensorMap& map, int row, int column,
                                               int matrix, float scale,
                                               const float (&sums)[kColumns / 2],
                                               unsigned char* memory) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    KG_UNROLL_UNIFORM
    for (int staged = 0; staged < kColumns; staged += kStaged) {
      if (lane == 0) ptx::cp_async_bulk_wait_group_read<0>();
      __syncwarp(); // the copies before have read their rows
      if constexpr (sizeof(T) == 2)
        stage_halves(scale, sums, staged / 2, memory);
      else
        stage_floats(scale, sums, staged / 2, memory);
      ptx::fence_proxy_async_shared();
      __syncwarp(); // all rows have been written
      if (lane != 0) continue;
      KG_UNROLL
      for (int box = 0; box < kBoxes; ++box) {
        const int first[3] = {column + staged + box * kBoxColumns, row, matrix};
        ptx::cp_async_bulk_tensor_store(map, first, memory + box * kBoxBytes);
      }
      ptx::cp_async_bulk_commit();
    }
  }

  // After the last tile: the block's shared memory must stay valid until the copies have read it.
  __device__ static __forceinline__ void end() {
    if (threadIdx.x % 32 == 0) ptx::cp_async_bulk_wait_group<0>();
  }

 private:
  // Writes kStaged columns, whose sums start at number `first`, to the warp's shared memory.
  template <int kCount>
  __device__ static __forceinline__ void stage_halves(float scale, const float (&sums)[kCount],
                                                      int first, unsigned char* memory) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    // Lane 8 i + r addresses row r of matrix i: upper and lower rows of 8 columns, then the next 8.
    unsigned char* const line = memory + lane % kRows * kSwizzleBytes;
    KG_UNROLL
    for (int pair = 0; pair < kStaged / 16; ++pair) {
      unsigned words[4];
      KG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int at = first + 8 * pair + 2 * i;
        words[i] = pack_pair<T>(scale * sums[at], scale * sums[at + 1]);
      }
      const int unit = pair % 4 * 2 + lane / kRows; // 16-byte unit within the line
      ptx::stmatrix(line + pair / 4 * kBoxBytes + (unit ^ lane % 8) * 16, words);
    }
  }

  // The same in f32: a thread has 8 bytes of each 8 columns, in two rows. The lanes of a half-warp
  // would store to the same two units in each pair of rows. So odd rows exchange the first 16
  // columns of a box with the last.
  template <int kCount>
  __device__ static __forceinline__ void stage_floats(float scale, const float (&sums)[kCount],
                                                      int first, unsigned char* memory) {
    const int lane = static_cast<int>(threadIdx.x) % 32, row = lane / 4;
    const bool odd = row % 2 != 0;
    KG_UNROLL
    for (int i = 0; i < kStaged / 8; ++i) { // box, the lower rows, the second 8 columns
      const int box = i / 4, lower = i / 2 % 2, second = i % 2;
      const int at = first + 16 * box + 4 * second + 2 * lower; // the sums of 16 columns later: + 8
      unsigned char* const line = memory + box * kBoxBytes + (row + 8 * lower) * kSwizzleBytes;
      const int unit = (2 * second + lane % 4 / 2) ^ row ^ (odd ? 4 : 0);
      const float2 near{scale * sums[at], scale * sums[at + 1]};
      const float2 far{scale * sums[at + 8], scale * sums[at + 9]};
      const float2 first_pair{odd ? far.x : near.x, odd ? far.y : near.y};
      const float2 last_pair{odd ? near.x : far.x, odd ? near.y : far.y};
      unsigned char* const half = line + lane % 2 * 8;
      ptx::store_shared(reinterpret_cast<float2*>(half + unit * 16), first_pair);
      ptx::store_shared(reinterpret_cast<float2*>(half + (unit ^ 4) * 16), last_pair);
    }
  }
};

} // namespace kg
