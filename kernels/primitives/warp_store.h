// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores a warp's part of wgmma's sums: 16 rows of a tile of C, rounded to 16 bits. Bulk copies
// write them to global memory while the warp continues. The warp stages them in shared memory of
// its own, so it waits for no other warp. Boxes of 16 rows by 64 columns have the 128-byte swizzle,
// so the 8 rows that one stmatrix writes lie in different banks. The copies skip elements outside
// of C.
//
// Architecture 9.0 and above.
#pragma once

#include "instructions/cp_async_bulk.h"
#include "instructions/cp_async_bulk_tensor.h"
#include "instructions/fence_proxy_async.h"
#include "instructions/stmatrix.h"
#include "primitives/pack_pair.h"
#include "primitives/warpgroup_tile.h"

#include <cstdint>

namespace kg {

template <class T, int kColumns>
struct WarpStore {
  static constexpr int kRows = 16;
  static constexpr int kBoxColumns = kSwizzleBytes / static_cast<int>(sizeof(T));
  static constexpr int kBoxBytes = kRows * kSwizzleBytes;
  static constexpr int kBoxes = kColumns / kBoxColumns;
  static constexpr int kBytes = kBoxes * kBoxBytes; // of shared memory
  static_assert(sizeof(T) == 2 && kColumns % kBoxColumns == 0);

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
    if (lane == 0) ptx::cp_async_bulk_wait_group_read<0>();
    __syncwarp(); // the copies of the last tile have read their rows
    // Lane 8 i + r addresses row r of matrix i: upper and lower rows of 8 columns, then the next 8.
    unsigned char* const line = memory + lane % kRows * kSwizzleBytes;
    KG_UNROLL
    for (int pair = 0; pair < kColumns / 16; ++pair) {
      unsigned words[4];
      KG_UNROLL
      for (int i = 0; i < 4; ++i)
        words[i] = pack_pair<T>(scale * sums[8 * pair + 2 * i], scale * sums[8 * pair + 2 * i + 1]);
      const int unit = pair % 4 * 2 + lane / kRows; // 16-byte unit within the line
      ptx::stmatrix(line + pair / 4 * kBoxBytes + (unit ^ lane % 8) * 16, words);
    }
    ptx::fence_proxy_async_shared();
    __syncwarp(); // all rows have been written
    if (lane != 0) return;
    KG_UNROLL
    for (int box = 0; box < kBoxes; ++box) {
      const int first[3] = {column + box * kBoxColumns, row, matrix};
      ptx::cp_async_bulk_tensor_store(map, first, memory + box * kBoxBytes);
    }
    ptx::cp_async_bulk_commit();
  }

  // After the last tile: the block's shared memory must stay valid until the copies have read it.
  __device__ static __forceinline__ void end() {
    if (threadIdx.x % 32 == 0) ptx::cp_async_bulk_wait_group<0>();
  }
};

} // namespace kg
