// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, 2 x its size in bytes, no arithmetic. Expected of `tiled` on
// an H200: 92 to 95 % of the 4.3 TB/s that a copy reaches (published for tiles of 64x64 moved by 16
// bytes: 95 to 100 % on a GB200), wherever rows begin (transpose_unaligned.h; not measured there).
// Small matrices whose rows are not aligned to 16 bytes: about 3.2 TB/s (published for tiles of
// 32x32 on Hopper: 3.16 to 3.21). `naive` moves a 32-byte sector for each 4-byte element that it
// writes, and is several times slower. Why not 16-byte loads and stores without shared memory:
// registers could transpose 4x4 elements, but a warp would then store rows of 64 bytes, which
// memory takes more slowly than rows of 256.
#include "ops/transpose/transpose.h"

#include "primitives/transpose_tile.h"
#include "primitives/transpose_unaligned.h"
#include "primitives/words.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace kg::transpose {

constexpr int kNaiveColumns = 32; // threads per block, by kNaiveRows
constexpr int kNaiveRows = 8;

// Thread (x, y) reads column x of row y; blocks stride over the rows along grid y.
template <class Bits>
__global__ void __launch_bounds__(kNaiveColumns* kNaiveRows)
    naive(const Bits* __restrict__ x, std::int64_t x_stride, Bits* __restrict__ y,
          std::int64_t y_stride, std::int64_t rows, std::int64_t cols) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
       row < rows; row += step)
    y[col * y_stride + row] = x[row * x_stride + col];
}

template <int Bytes, class Bits>
__global__ void __launch_bounds__(TransposePacks<Bits, Bytes>::kThreads)
    tiled(const Bits* __restrict__ x, Bits* __restrict__ y, TransposeBatch batch) {
  transpose_tile<Bits, Bytes>(x, y, batch);
}

// The same for rows at any alignment.
template <class Bits>
__global__ void __launch_bounds__(UnalignedTile<Bits>::kThreads)
    tiled_askew(const Bits* __restrict__ x, Bits* __restrict__ y, UnalignedTransposeBatch batch) {
  transpose_unaligned(x, y, batch);
}

namespace {

template <class Bits>
void launch_naive(MatrixView<const Bits> x, MatrixView<Bits> y, Stream& stream) {
  const auto [rows, cols] = x.shape;
  const unsigned across =
      grid_x(div_up(cols, kNaiveColumns),
             "transpose: the columns of " + text(x.shape) + " elements", "split x by columns");
  const std::int64_t down =
      std::min<std::int64_t>(div_up(rows, kNaiveRows), device_properties().max_grid_yz);
  launch(naive<Bits>,
         {.grid = {across, static_cast<unsigned>(down)},
          .block = {kNaiveColumns, kNaiveRows},
          .stream = &stream},
         x.data, x.stride[0], y.data, y.stride[0], rows, cols);
}

template <class Bits>
void launch_tiled(MatrixView<const Bits> x, MatrixView<Bits> y, Stream& stream) {
  const std::int64_t rows = x.shape[0], cols = x.shape[1];
  const std::string what = "transpose: the tiles of " + text(x.shape) + " elements";
  const std::string fix = "split x";
  UnalignedTransposeBatch batch;
  batch.x_stride = x.stride[0];
  batch.y_stride = y.stride[0];
  if (const std::int64_t tiles = unaligned_tiles<Bits>(x.data, y.data, cols, rows, 1, batch)) {
    launch(tiled_askew<Bits>,
           {.grid = grid_x(tiles, what, fix),
            .block = UnalignedTile<Bits>::kThreads,
            .stream = &stream},
           x.data, y.data, batch);
    return;
  }
  with_transpose_bytes(x.data, y.data, cols, rows, batch, [&](auto bytes) {
    const TransposeGrid grid = transpose_shape<Bits, bytes>(cols, rows, 1, batch, what, fix);
    launch(tiled<bytes, Bits>, {.grid = grid.grid, .block = grid.block, .stream = &stream}, x.data,
           y.data, batch);
  });
}

} // namespace

Variant run(MatrixView<const void> x, MatrixView<void> y, std::size_t element_bytes,
            Variant variant, Stream& stream) {
  require_matrix("transpose: x", x);
  require_matrix("transpose: y", y);
  const auto [rows, cols] = x.shape;
  require(y.shape[0] == cols && y.shape[1] == rows, "transpose: x is " + text(x.shape) +
                                                        " and y is " + text(y.shape) +
                                                        "; y must be " + text({cols, rows}));
  variant = resolved(variant);
  with_word("transpose", element_bytes, [&](auto word) {
    using Bits = decltype(word);
    if (x.size() == 0) return;
    const MatrixView<const Bits> from{static_cast<const Bits*>(x.data), x.shape, x.stride};
    const MatrixView<Bits> to{static_cast<Bits*>(y.data), y.shape, y.stride};
    variant == Variant::naive ? launch_naive(from, to, stream) : launch_tiled(from, to, stream);
  });
  return variant;
}

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = 2 * elements * static_cast<double>(size_of(dtype)),
          .written = elements * static_cast<double>(size_of(dtype)),
          .flops = 0};
}

} // namespace kg::transpose
