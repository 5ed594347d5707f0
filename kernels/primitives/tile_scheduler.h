// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The order in which blocks process the tiles of a matrix product: 16 rows of tiles at a time,
// column by column. Blocks that run at the same time then share operands.
#pragma once

#include "runtime/device_code.h"

namespace kg {

// Rows of tiles that neighbouring blocks share. Their operands stay in L2; those of a whole row or
// column of tiles of a large C would not.
inline constexpr unsigned kTilesInGroup = 16;

// The position of a tile of C, in rows and columns of tiles.
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

// The tiles of `products` matrix products, each of `rows` x `columns` tiles.
struct TileGrid {
  unsigned rows, columns, products;

  __host__ __device__ constexpr unsigned in_product() const { return rows * columns; }
  __host__ __device__ constexpr unsigned count() const { return in_product() * products; }
};

// The tiles of a persistent block: its own index, then every gridDim.x-th. All roles within a block
// iterate over the same tiles.
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
