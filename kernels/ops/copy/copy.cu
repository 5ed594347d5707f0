// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, 2 x its size in bytes, no arithmetic. Expected of
// `vectorized` on an H200: 4.3 TB/s of the rated 4.8, as the driver's own copy reaches. Memory
// loses some bandwidth when it switches between reads and writes, so kernels that read more than
// they write may be slightly faster than this one.
//
// Why not bulk copies through shared memory: they save registers, which this kernel has to spare,
// and need compute capability 9. Why not a block per row: short rows would leave most of it idle. A
// block is as wide as the rows need and takes several rows.
#include "ops/copy/copy.h"

#include "primitives/row_move.h"
#include "primitives/words.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstdint>
#include <string>

namespace kg::copy {

constexpr int kNaiveThreads = 256;

template <class Word>
__global__ void __launch_bounds__(kNaiveThreads)
    naive(const Word* __restrict__ x, std::int64_t x_stride, Word* __restrict__ y,
          std::int64_t y_stride, std::int64_t rows, std::int64_t cols) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i / cols * y_stride + i % cols] = x[i / cols * x_stride + i % cols];
}

// Without Shifted, each row of x has the same offset from a pack boundary as its row of y.
template <bool Shifted, class Word>
__global__ void __launch_bounds__(kRowThreads, kRowBlocksPerSm)
    vectorized(const Word* __restrict__ x, std::int64_t x_stride, Word* __restrict__ y,
               std::int64_t y_stride, std::int64_t rows, std::int64_t cols,
               std::int64_t tiles_across) {
  move_rows<Shifted, Word>(rows, cols, tiles_across, [&](std::int64_t row) {
    return RowEnds<Word>{x + row * x_stride, y + row * y_stride};
  });
}

namespace {

template <class Word>
void launch_variant(MatrixView<const Word> x, MatrixView<Word> y, Variant variant, Stream& stream) {
  const auto [rows, cols] = x.shape;
  if (variant == Variant::naive) {
    const unsigned grid = grid_x(div_up(rows * cols, kNaiveThreads),
                                 "copy: " + std::to_string(rows * cols) + " elements, one each,",
                                 "use Variant::vectorized");
    launch(naive<Word>, {.grid = grid, .block = kNaiveThreads, .stream = &stream}, x.data,
           x.stride[0], y.data, y.stride[0], rows, cols);
    return;
  }
  const auto words_per_pack = static_cast<std::int64_t>(kPackElements<Word>);
  const bool rows_alike = rows == 1 || y.stride[0] % words_per_pack == 0;
  const int head = rows_alike ? words_past_boundary(y.data) : static_cast<int>(words_per_pack) - 1;
  const bool together = words_past_boundary(x.data) == words_past_boundary(y.data) &&
                        (rows == 1 || (x.stride[0] - y.stride[0]) % words_per_pack == 0);
  const RowTiles tiles = row_tiles<Word>(rows, cols, head);
  launch(together ? vectorized<false, Word> : vectorized<true, Word>,
         {.grid = row_grid(tiles), .block = tiles.block, .stream = &stream}, x.data, x.stride[0],
         y.data, y.stride[0], rows, cols, tiles.across);
}

} // namespace

Variant run(MatrixView<const void> x, MatrixView<void> y, std::size_t element_bytes,
            Variant variant, Stream& stream) {
  require_matrix("copy: x", x);
  require_matrix("copy: y", y);
  require(x.shape == y.shape, "copy: x is " + text(x.shape) + " and y is " + text(y.shape) +
                                  "; their shapes must be equal");
  variant = resolved(variant);
  with_word("copy", element_bytes, [&](auto word) {
    using Word = decltype(word);
    if (x.size() == 0) return;
    MatrixView<const Word> from{static_cast<const Word*>(x.data), x.shape, x.stride};
    MatrixView<Word> to{static_cast<Word*>(y.data), y.shape, y.stride};
    if (x.stride[0] == x.shape[1] && y.stride[0] == x.shape[1]) { // packed: one row
      from = matrix(from.data, 1, x.size());
      to = matrix(to.data, 1, x.size());
    }
    launch_variant(from, to, variant, stream);
  });
  return variant;
}

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = 2 * elements * static_cast<double>(size_of(dtype)),
          .written = elements * static_cast<double>(size_of(dtype)),
          .flops = 0};
}

} // namespace kg::copy
