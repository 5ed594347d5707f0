// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, 2 x its size in bytes, no arithmetic. Expected of `tiled` on
// an H200: about 3.2 of the 4.3 TB/s that a copy reaches (published for this tile shape on
// Hopper: 3.16 to 3.21 TB/s); `naive` moves a 32-byte sector for each 4-byte element that it
// writes, and is several times slower. Why not 64x64 tiles with 16-byte accesses on both sides, the
// fastest form known: it asks for aligned rows, and is a variant of its own. Why 32 more words than
// a tile needs: with rows of 33 words, the 32 elements of a tile's column lie in 32 different
// banks.
//
// Elements of 1 and 2 bytes in such tiles would fill a quarter or half of each request: they are
// turned several to a word (primitives/turn.h), where the sides and strides are whole words.
#include "transpose/transpose.h"

#include "primitives/turn.h"
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

constexpr int kTile = 32;
constexpr int kRowsPerPass = 8; // of a tile, by a block of kTile x kRowsPerPass threads
constexpr int kPasses = kTile / kRowsPerPass;

// Thread x takes column x of x's row y. Rows are grid.y's blocks, and those beyond them.
template <class Bits>
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
template <class Bits>
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

// The same for elements of 1 and 2 bytes, K to a word: units and strides as in turn.h.
template <int K, class Word>
__global__ void __launch_bounds__(kTurnThreads)
    tiled_words(const Word* __restrict__ x, std::int64_t x_stride, Word* __restrict__ y,
                std::int64_t y_stride, std::int64_t row_units, std::int64_t col_units,
                std::int64_t tiles_across, TurnShape shape) {
  const std::int64_t a = blockIdx.x % tiles_across << shape.log_a;
  const std::int64_t b = blockIdx.x / tiles_across << shape.log_b;
  turn_tile<K>(x + b * K * x_stride + a, x_stride, y + a * K * y_stride + b, y_stride,
               col_units - a, row_units - b, shape);
}

namespace {

template <int K, class Word>
void launch_words(MatrixView<const Word> x, MatrixView<Word> y, Stream& stream) {
  const std::int64_t row_units = x.shape[0] / K;
  const std::int64_t col_units = x.shape[1] / K;
  const TurnShape shape = turn_shape<Word, K>(col_units, row_units);
  const std::int64_t across = div_up(col_units, std::int64_t{1} << shape.log_a);
  const std::int64_t tiles = across * div_up(row_units, std::int64_t{1} << shape.log_b);
  const unsigned grid =
      grid_x(tiles, "transpose: the tiles of " + text(x.shape) + " elements", "split x");
  launch(tiled_words<K, Word>, {.grid = grid, .block = kTurnThreads, .stream = &stream}, x.data,
         x.stride[0] / K, y.data, y.stride[0] / K, row_units, col_units, across, shape);
}

// Elements of 1 and 2 bytes.
template <class Bits>
void launch_small(MatrixView<const Bits> x, MatrixView<Bits> y, Stream& stream) {
  using Word = std::uint32_t;
  constexpr int kInWord = sizeof(Word) / sizeof(Bits);
  const auto whole = [](const auto& m) {
    return reinterpret_cast<std::uintptr_t>(m.data) % sizeof(Word) == 0 &&
           m.stride[0] % kInWord == 0;
  };
  if (turns_in_words<kInWord>(x.shape[1], x.shape[0]) && whole(x) && whole(y))
    launch_words<kInWord>(
        MatrixView<const Word>{reinterpret_cast<const Word*>(x.data), x.shape, x.stride},
        MatrixView<Word>{reinterpret_cast<Word*>(y.data), y.shape, y.stride}, stream);
  else
    launch_words<1>(x, y, stream);
}

template <class Bits>
void launch_variant(MatrixView<const Bits> x, MatrixView<Bits> y, Variant variant, Stream& stream) {
  auto* kernel = naive<Bits>;
  if constexpr (sizeof(Bits) < sizeof(std::uint32_t)) {
    if (variant == Variant::tiled) return launch_small(x, y, stream);
  } else {
    if (variant == Variant::tiled) kernel = tiled<Bits>;
  }
  const auto [rows, cols] = x.shape;
  const DeviceProperties& device = device_properties();
  const std::int64_t across = div_up(cols, kTile);
  require(across <= device.max_grid_x, "transpose: x has " + std::to_string(cols) +
                                           " columns, more than " +
                                           std::to_string(device.max_grid_x) + " tiles of " +
                                           std::to_string(kTile) + "; split it by columns");
  const std::int64_t rows_per_block = variant == Variant::tiled ? kTile : kRowsPerPass;
  const std::int64_t down =
      std::min<std::int64_t>(div_up(rows, rows_per_block), device.max_grid_yz);
  launch(kernel,
         {.grid = {static_cast<unsigned>(across), static_cast<unsigned>(down)},
          .block = {kTile, kRowsPerPass},
          .stream = &stream},
         x.data, x.stride[0], y.data, y.stride[0], rows, cols);
}

} // namespace

std::string_view name(Variant variant) {
  switch (variant) {
  case Variant::automatic: return "automatic";
  case Variant::naive: return "naive";
  case Variant::tiled: return "tiled";
  }
  return "";
}

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
    launch_variant(MatrixView<const Bits>{static_cast<const Bits*>(x.data), x.shape, x.stride},
                   MatrixView<Bits>{static_cast<Bits*>(y.data), y.shape, y.stride}, variant,
                   stream);
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
