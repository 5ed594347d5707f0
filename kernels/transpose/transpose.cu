// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, 8 bytes, no arithmetic. Expected of `tiled` on an H200:
// about 3.2 of the 4.3 TB/s that a copy reaches (published for this tile shape on Hopper: 3.16
// to 3.21 TB/s); `naive` moves a 32-byte sector for each 4-byte element that it writes, and is
// several times slower. Why not 64x64 tiles with 16-byte accesses on both sides, the fastest form
// known: it asks for aligned rows, and is a variant of its own. Why 32 more words than a tile
// needs: with rows of 33 words, the 32 elements of a tile's column lie in 32 different banks.
//
// Elements move as 32-bit integers: a float may lose its NaN payload on the way through a
// floating-point register.
#include "transpose/transpose.h"

#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace kg::transpose {

using Bits = std::uint32_t;
static_assert(sizeof(Bits) == sizeof(float));

constexpr int kTile = 32;
constexpr int kRowsPerPass = 8; // of a tile, by a block of kTile x kRowsPerPass threads
constexpr int kPasses = kTile / kRowsPerPass;

// Thread x takes column x of x's row y. Rows are grid.y's blocks, and those beyond them.
__global__ void __launch_bounds__(kTile* kRowsPerPass)
    naive(const Bits* __restrict__ x, std::int64_t x_stride, Bits* __restrict__ y,
          std::int64_t y_stride, std::int64_t rows, std::int64_t cols) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
       row < rows; row += step)
    y[col * y_stride + row] = x[row * x_stride + col];
}

// A block turns tile (blockIdx.y, blockIdx.x), and where x has more rows of tiles than a grid has,
// those gridDim.y further down. All loads of a tile are issued before its first is stored.
__global__ void __launch_bounds__(kTile* kRowsPerPass)
    tiled(const Bits* __restrict__ x, std::int64_t x_stride, Bits* __restrict__ y,
          std::int64_t y_stride, std::int64_t rows, std::int64_t cols) {
  __shared__ Bits tile[kTile][kTile + 1];
  const int tx = static_cast<int>(threadIdx.x);
  const int ty = static_cast<int>(threadIdx.y);
  const std::int64_t first_col = static_cast<std::int64_t>(blockIdx.x) * kTile;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * kTile;
  for (std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * kTile;; first_row += step) {
    KG_UNROLL
    for (int p = 0; p < kPasses; ++p) {
      const int r = ty + p * kRowsPerPass;
      if (first_row + r < rows && first_col + tx < cols)
        tile[r][tx] = x[(first_row + r) * x_stride + first_col + tx];
    }
    __syncthreads();
    KG_UNROLL
    for (int p = 0; p < kPasses; ++p) {
      const int c = ty + p * kRowsPerPass;
      if (first_row + tx < rows && first_col + c < cols)
        y[(first_col + c) * y_stride + first_row + tx] = tile[tx][c];
    }
    if (first_row + step >= rows) break;
    __syncthreads(); // before the next tile is loaded
  }
}

namespace {} // namespace

std::string_view name(Variant variant) {
  switch (variant) {
  case Variant::automatic: return "automatic";
  case Variant::naive: return "naive";
  case Variant::tiled: return "tiled";
  }
  return "";
}

Variant run(MatrixView<const float> x, MatrixView<float> y, Variant variant, Stream& stream) {
  require_matrix("transpose: x", x);
  require_matrix("transpose: y", y);
  const auto [rows, cols] = x.shape;
  require(y.shape[0] == cols && y.shape[1] == rows, "transpose: x is " + text(x.shape) +
                                                        " and y is " + text(y.shape) +
                                                        "; y must be " + text({cols, rows}));
  if (variant == Variant::automatic) variant = Variant::tiled;
  if (x.size() == 0) return variant;

  const DeviceProperties& device = device_properties();
  const std::int64_t across = div_up(cols, kTile);
  require(across <= device.max_grid_x, "transpose: x has " + std::to_string(cols) +
                                           " columns, more than " +
                                           std::to_string(device.max_grid_x) + " tiles of " +
                                           std::to_string(kTile) + "; split it by columns");
  const std::int64_t rows_per_block = variant == Variant::tiled ? kTile : kRowsPerPass;
  const std::int64_t down =
      std::min<std::int64_t>(div_up(rows, rows_per_block), device.max_grid_yz);
  launch(variant == Variant::tiled ? tiled : naive,
         {.grid = {static_cast<unsigned>(across), static_cast<unsigned>(down)},
          .block = {kTile, kRowsPerPass},
          .stream = &stream},
         reinterpret_cast<const Bits*>(x.data), x.stride[0], reinterpret_cast<Bits*>(y.data),
         y.stride[0], rows, cols);
  return variant;
}

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = 2 * elements * static_cast<double>(size_of(dtype)), .flops = 0};
}

} // namespace kg::transpose
