// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// In which order blocks take the tiles of a matrix product, so that those that run at the same time
// share operands: 16 rows of tiles at a time, column by column.
#pragma once

#include "runtime/device_code.h"

namespace kg {

// Rows of tiles that neighbouring blocks share: their operands stay in L2, those of a whole row or
// column of tiles of a large C would not.
inline constexpr unsigned kTilesInGroup = 16;

// Which tile of C, by rows and columns of tiles.
struct TilePlace {
  unsigned row, column;
};
__device__ __forceinline__ TilePlace place_of(unsigned tile, unsigned tiles_m, unsigned tiles_n) {
  const unsigned height = tiles_m < kTilesInGroup ? tiles_m : kTilesInGroup;
  const unsigned group = tile / (height * tiles_n);
  const unsigned in_group = tile % (height * tiles_n);
  const unsigned left = tiles_m - group * height;
  const unsigned rows = left < height ? left : height;
  return {group * height + in_group % rows, in_group / rows};
}

// The tiles of `products` results, each of `rows` x `columns` tiles.
struct TileGrid {
  unsigned rows, columns, products;

  __host__ __device__ constexpr unsigned in_product() const { return rows * columns; }
  __host__ __device__ constexpr unsigned count() const { return in_product() * products; }
};

// The tiles of a block that stays: its own number, then as many further on as there are blocks. All
// roles within a block walk the same tiles.
class TileScheduler {
 public:
  __device__ __forceinline__ explicit TileScheduler(const TileGrid& grid)
      : grid_(grid), tile_(blockIdx.x) {}
  __device__ __forceinline__ bool has_tile() const { return tile_ < grid_.count(); }
  __device__ __forceinline__ void advance() { tile_ += gridDim.x; }
  __device__ __forceinline__ unsigned product() const { return tile_ / grid_.in_product(); }
  __device__ __forceinline__ TilePlace place() const {
    return place_of(tile_ % grid_.in_product(), grid_.rows, grid_.columns);
  }

 private:
  TileGrid grid_;
  unsigned tile_;
};

} // namespace kg
