// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Warp-level matrix products of variant flash and of its backward pass, with mma.sync
// (instructions/mma.h): accumulation from tiles in shared memory, masking, bias and stores.
//
// A warp accumulates one or more blocks of 16 rows. In each block, sum[j] holds columns 8 j to
// 8 j + 7. Lane 4 r + c has columns 2 c and 2 c + 1 of rows r and r + 8. Packed in pairs, two
// neighbouring sums are operand a of a further product.
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

inline constexpr int kWarpRows = 16; // rows of one block

// sum += a b^T for 16 elements of the depth, from chunk 2 step on. a: one operand of 16 rows per
// block. b: all rows of `tile`, each read once for all blocks. lane: Tile::of_columns().
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

// sum += own tile^T over the whole depth. `own` is the warp's rows of one tile, `tile` all rows of
// another. own_lane: Own::of_rows(). lane: Tile::of_columns().
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

// sum += weight tile, for the tile's columns from `chunk` on, with weights rounded to T. lane:
// Tile::of_rows().
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

// score = scale score + bias. `bias` points to the element of the lane's first row and column.
// rows, columns: the valid extents from there on.
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

// Sets masked scores to -inf. The tile's keys begin at `first`, the lane's first key is `column`
// keys further. Only tiles at the edge of the mask contain masked scores.
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

// Multiplies the sums by a factor per row, and stores them to the warp's rows of a tile in shared
// memory: rows from `warp_row` and chunks from `chunk` on. upper, lower: for rows r and r + 8.
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

// Copies chunks [chunk, chunk + kCount) of the warp's rows from a tile to global memory. Rows from
// `rows` and elements from `depth` on do not exist. The same warp has stored the rows to the tile.
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
