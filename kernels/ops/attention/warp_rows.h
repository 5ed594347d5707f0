// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of variant flash do with a warp's rows of mma's sums (instructions/mma.h), 16 or
// more blocks of 16: products with tiles in shared memory, and how they leave.
//
// Of a block of rows sum[j] holds columns 8 j to 8 j + 7, of which lane 4 r + c has 2 c and 2 c + 1
// of rows r and r +
// 8. Packed in pairs, two of these are the operand a of another product.
#pragma once

#include "instructions/ldmatrix.h"
#include "instructions/mma.h"
#include "ops/attention/token_tile.h"
#include "ops/attention/visible.h"
#include "primitives/pack.h"
#include "primitives/pack_pair.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::attention {

inline constexpr int kWarpRows = 16; // of a block

// Adds the products of operands a, 16 rows of the warp each, with rows of `tile` as columns of b:
// 16 of the depth, from chunk 2 step on. What is read of the tile serves all of the warp's rows.
// lane: Tile::of_columns().
template <class Tile, class T, int kBlocks, int kSums>
__device__ __forceinline__ void add_step(const unsigned (&a)[kBlocks][4], const T* tile, int lane,
                                         int step, float (&sum)[kBlocks][kSums][4]) {
  KG_UNROLL_UNIFORM
  for (int j = 0; j < kSums; j += 2) {
    unsigned b[4];
    ptx::ldmatrix(b, Tile::at(tile, lane, 8 * j, 2 * step));
    KG_UNROLL_UNIFORM
    for (int block = 0; block < kBlocks; ++block) {
      ptx::mma_m16n8k16<T>(sum[block][j], a[block], {b[0], b[1]});
      ptx::mma_m16n8k16<T>(sum[block][j + 1], a[block], {b[2], b[3]});
    }
  }
}

// Adds the products of the warp's rows `own` of one tile with all rows of another one of the same
// depth. own_lane: Own::of_rows(), lane: Tile::of_columns().
template <class Own, class Tile, class T, int kBlocks, int kSums>
__device__ __forceinline__ void add_rows(const T* own, int own_lane, const T* tile, int lane,
                                         float (&sum)[kBlocks][kSums][4]) {
  KG_UNROLL_UNIFORM
  for (int step = 0; step < Own::kChunks / 2; ++step) {
    unsigned a[kBlocks][4];
    KG_UNROLL_UNIFORM
    for (int block = 0; block < kBlocks; ++block)
      ptx::ldmatrix(a[block], Own::at(own, own_lane, kWarpRows * block, 2 * step));
    add_step<Tile>(a, tile, lane, step, sum);
  }
}

// Adds weights, rounded to T, times the rows of `tile` that they weigh, of its columns from `chunk`
// on. lane: Tile::of_rows().
template <class Tile, class T, int kBlocks, int kWeights, int kSums>
__device__ __forceinline__ void add_weighted(const float (&weight)[kBlocks][kWeights][4],
                                             const T* tile, int lane, int chunk,
                                             float (&sum)[kBlocks][kSums][4]) {
  KG_UNROLL_UNIFORM
  for (int step = 0; step < kWeights / 2; ++step) {
    unsigned a[kBlocks][4];
    KG_UNROLL_UNIFORM
    for (int block = 0; block < kBlocks; ++block) {
      const float(&left)[4] = weight[block][2 * step];
      const float(&right)[4] = weight[block][2 * step + 1];
      a[block][0] = pack_pair<T>(left[0], left[1]);
      a[block][1] = pack_pair<T>(left[2], left[3]);
      a[block][2] = pack_pair<T>(right[0], right[1]);
      a[block][3] = pack_pair<T>(right[2], right[3]);
    }
    KG_UNROLL_UNIFORM
    for (int j = 0; j < kSums; j += 2) {
      unsigned b[4];
      ptx::ldmatrix_trans(b, Tile::at(tile, lane, 16 * step, chunk + j));
      KG_UNROLL_UNIFORM
      for (int block = 0; block < kBlocks; ++block) {
        ptx::mma_m16n8k16<T>(sum[block][j], a[block], {b[0], b[1]});
        ptx::mma_m16n8k16<T>(sum[block][j + 1], a[block], {b[2], b[3]});
      }
    }
  }
}

// score = scale score + bias. bias: where the lane's first row and column have theirs; rows,
// columns: how many there are from these on.
template <class T, int kScores>
__device__ __forceinline__ void add_bias(const T* bias, std::int64_t row_stride,
                                         std::int64_t column_stride, int rows, int columns,
                                         float scale, float (&score)[kScores][4]) {
  KG_UNROLL_UNIFORM
  for (int i = 0; i < 4; ++i) {
    const T* const row = bias + i / 2 * 8 * row_stride;
    KG_UNROLL_UNIFORM
    for (int j = 0; j < kScores; ++j)
      if (i / 2 * 8 < rows && 8 * j + i % 2 < columns)
        score[j][i] = fmaf(score[j][i], scale, to_float(row[(8 * j + i % 2) * column_stride]));
  }
}

// Of columns that begin at `first`, those that the lane's rows do not see become -inf. `column`:
// the lane's first one from there. Only tiles on the edge of what is visible have anything to hide.
template <int kScores>
__device__ __forceinline__ void hide(const Visible (&visible)[2], int first, int column,
                                     float (&score)[kScores][4]) {
  KG_UNROLL_UNIFORM
  for (int half = 0; half < 2; ++half)
    if (first < visible[half].first || first + 8 * kScores > visible[half].end) {
      KG_UNROLL_UNIFORM
      for (int j = 0; j < kScores; ++j) {
        KG_UNROLL_UNIFORM
        for (int i = 0; i < 2; ++i) {
          const int at = first + column + 8 * j + i;
          if (at < visible[half].first || at >= visible[half].end)
            score[j][2 * half + i] = -INFINITY;
        }
      }
    }
}

// Puts sums times a factor for each of the lane's rows into the warp's rows of a tile, which begin
// at `warp_row`, from `chunk` on.
template <class Tile, class T, int kSums>
__device__ __forceinline__ void put_rows(const float (&sum)[kSums][4], float upper, float lower,
                                         int warp_row, int chunk, T* tile) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  KG_UNROLL_UNIFORM
  for (int half = 0; half < 2; ++half) {
    const float factor = half == 0 ? upper : lower;
    T* const row = tile + lane % 4 * 2;
    KG_UNROLL_UNIFORM
    for (int j = 0; j < kSums; ++j)
      *reinterpret_cast<unsigned*>(row + Tile::place(warp_row + lane / 4 + 8 * half, chunk + j)) =
          pack_pair<T>(sum[j][2 * half] * factor, sum[j][2 * half + 1] * factor);
  }
}

// Writes chunks [chunk, chunk + kCount) of the warp's rows of a tile to memory, of `rows` rows in
// the tile that exist and `depth` elements of each. The warp has put them there.
template <class Tile, int kCount, class T>
__device__ __forceinline__ void store_rows(const T* tile, int warp_row, int chunk, T* to,
                                           std::int64_t stride, int rows, int depth, bool vector) {
  for (int item = static_cast<int>(threadIdx.x % 32); item < kWarpRows * kCount; item += 32) {
    const int row = warp_row + item / kCount, own = chunk + item % kCount;
    if (row >= rows || own * kChunk >= depth) continue;
    const auto values = *reinterpret_cast<const Pack<T, kChunk>*>(tile + Tile::place(row, own));
    T* const place = to + row * stride + own * kChunk;
    if (vector) {
      store_wide(reinterpret_cast<Pack<T, kChunk>*>(place), values);
    } else {
      KG_UNROLL_UNIFORM
      for (int e = 0; e < kChunk; ++e) place[e] = values.element[e];
    }
  }
}

} // namespace kg::attention
