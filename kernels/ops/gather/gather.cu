// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, 2 x its size in bytes, plus the indices; no arithmetic.
// Expected of `vectorized` on an H200 for rows in any order: copy bandwidth, 4.3 TB/s, if rows have
// some hundred bytes. Memory moves at least 32 bytes, so single floats from a table larger than L2
// cost 32 bytes in, 4 out and 4 of index, and count as 12: at best a third of copy bandwidth.
//
// `words` iterates over y, so that stores are coalesced and neighbouring threads read neighbouring
// words of a row. A thread loads all its indices before its first element. Why not a block or a
// warp per row: short rows would leave most lanes idle, and long rows do not need it. Why not bulk
// copies of rows through shared memory: they need compute capability 9 and rows of whole 16 bytes,
// which are the easy case.
#include "ops/gather/gather.h"

#include "primitives/divisor.h"
#include "primitives/row_move.h"
#include "primitives/words.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::gather {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;
constexpr int kLoads = 4; // per thread: at 16 bytes each, 64 KiB per multiprocessor, see row_move.h

// The rows of y, with lengths in words, and the geometry of the table.
struct Rows {
  std::int64_t rows = 0; // of y: outer x count
  Divisor cols;
  Divisor count;
  std::int64_t extent = 0;
};

// The table row for row `row` of y; negative if its index is out of range.
__device__ inline std::int64_t source_row(const Indices& index, const Rows& rows,
                                          std::int64_t row) {
  const std::int64_t outer = rows.count.quotient(row);
  const std::int64_t picked = index[row - outer * rows.count.value];
  return picked < 0 || picked >= rows.extent ? -1 : outer * rows.extent + picked;
}

// Moves words i, i + kThreads, ... of y.
template <int Loads, class Word>
__device__ inline void move_words(const Word* table, const Indices& index, Word* y,
                                  const Rows& rows, std::int64_t i) {
  std::int64_t source[Loads];
  bool in_range = true;
  KG_UNROLL
  for (int l = 0; l < Loads; ++l) {
    const std::int64_t place = i + l * kThreads;
    const std::int64_t row = rows.cols.quotient(place);
    const std::int64_t from = source_row(index, rows, row);
    in_range = in_range && from >= 0;
    source[l] = (from - row) * rows.cols.value + place;
  }
  if (!in_range) __trap();
  Word word[Loads];
  KG_UNROLL
  for (int l = 0; l < Loads; ++l) word[l] = table[source[l]];
  KG_UNROLL
  for (int l = 0; l < Loads; ++l) y[i + l * kThreads] = word[l];
}

template <class Word>
__global__ void __launch_bounds__(kThreads)
    naive(const Word* __restrict__ table, Indices index, Word* __restrict__ y, Rows rows) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows.rows * rows.cols.value) move_words<1>(table, index, y, rows, i);
}

template <class Word>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    words(const Word* __restrict__ table, Indices index, Word* __restrict__ y, Rows rows) {
  constexpr int kTile = kThreads * kLoads;
  const std::int64_t size = rows.rows * rows.cols.value;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
  std::int64_t tile_end = static_cast<std::int64_t>(blockIdx.x + 1) * kTile;
  for (; tile_end <= size; i += step, tile_end += step)
    move_words<kLoads>(table, index, y, rows, i);
  // The last, partial tile: `i` is in range only for the block whose turn it is.
  for (; i < size && i < tile_end; i += kThreads) move_words<1>(table, index, y, rows, i);
}

// For long rows that words of 8 bytes do not divide.
template <class Word>
__global__ void __launch_bounds__(kRowThreads, kRowBlocksPerSm)
    shifted_rows(const Word* __restrict__ table, Indices index, Word* __restrict__ y, Rows rows,
                 std::int64_t tiles_across) {
  const std::int64_t cols = rows.cols.value;
  move_rows<true, Word>(rows.rows, cols, tiles_across, [&](std::int64_t row) {
    const std::int64_t from = source_row(index, rows, row);
    if (from < 0) __trap();
    return RowEnds<Word>{table + from * cols, y + row * cols};
  });
}

namespace {

template <class Word>
Rows rows_of(const Problem& problem, std::int64_t row_bytes) {
  return {problem.outer * problem.count,
          Divisor(row_bytes / static_cast<std::int64_t>(sizeof(Word))), Divisor(problem.count),
          problem.extent};
}

template <class Word>
void launch_naive(const Word* table, Indices index, Word* y, const Rows& rows, Stream& stream) {
  const std::int64_t size = rows.rows * rows.cols.value;
  const unsigned grid =
      grid_x(div_up(size, kThreads), "gather: " + std::to_string(size) + " elements, one each,",
             "use Variant::vectorized");
  launch(naive<Word>, {.grid = grid, .block = kThreads, .stream = &stream}, table, index, y, rows);
}

template <class Word>
void launch_words(const Word* table, Indices index, Word* y, const Rows& rows, Stream& stream) {
  const std::int64_t tiles = div_up(rows.rows * rows.cols.value, kThreads * kLoads);
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kBlocksPerSm;
  launch(words<Word>,
         {.grid = static_cast<unsigned>(std::min(tiles, resident)),
          .block = kThreads,
          .stream = &stream},
         table, index, y, rows);
}

template <class Word>
void launch_shifted(const Word* table, Indices index, Word* y, const Rows& rows, Stream& stream) {
  const RowTiles tiles = row_tiles<Word>(rows.rows, rows.cols.value, kPackElements<Word> - 1);
  launch(shifted_rows<Word>, {.grid = row_grid(tiles), .block = tiles.block, .stream = &stream},
         table, index, y, rows, tiles.across);
}

// The widest word, up to a pack, that divides the row length and both addresses.
std::int64_t widest_word(const void* table, const void* y, std::int64_t row_bytes) {
  const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(table) |
                              reinterpret_cast<std::uintptr_t>(y) |
                              static_cast<std::uintptr_t>(row_bytes) | kPackBytes;
  return static_cast<std::int64_t>(bits & (~bits + 1)); // the lowest set bit
}

void launch_vectorized(const void* table, Indices index, void* y, const Problem& problem,
                       std::int64_t row_bytes, Stream& stream) {
  const auto call = [&](auto launch_one, auto word) {
    using Word = decltype(word);
    launch_one(static_cast<const Word*>(table), index, static_cast<Word*>(y),
               rows_of<Word>(problem, row_bytes), stream);
  };
  switch (const std::int64_t bytes = widest_word(table, y, row_bytes)) {
  case 16: return call(launch_words<Quad>, Quad{});
  case 8: return call(launch_words<std::uint64_t>, std::uint64_t{});
  default:
    with_word("gather", static_cast<std::size_t>(bytes), [&](auto word) {
      using Word = decltype(word);
      if constexpr (sizeof(Word) < 8)
        call(row_bytes >= kLongRow ? launch_shifted<Word> : launch_words<Word>, word);
    });
  }
}

void require_problem(const void* table, const Indices& index, const void* y, const Problem& problem,
                     std::int64_t element_bytes) {
  require_extent("gather: outer", problem.outer);
  require_extent("gather: extent", problem.extent);
  require_extent("gather: inner", problem.inner);
  require_extent("gather: count", problem.count);
  const std::int64_t slice_bytes = problem.outer * problem.inner * element_bytes;
  const std::int64_t y_bytes = slice_bytes * problem.count;
  if (y_bytes == 0) return;
  require(problem.extent > 0, "gather: extent is 0 and count is " + std::to_string(problem.count) +
                                  "; give a table that has rows");
  require(table != nullptr, "gather: table is null; pass device memory");
  require(index.data() != nullptr, "gather: index is null; pass device memory");
  require(y != nullptr, "gather: y is null; pass device memory");
  require_apart("gather: table", table, slice_bytes * problem.extent, "y", y, y_bytes);
  require_apart("gather: index", index.data(), problem.count * index.bytes_each(), "y", y, y_bytes);
}

} // namespace

Variant run(const void* table, Indices index, void* y, const Problem& problem,
            std::size_t element_bytes, Variant variant, Stream& stream) {
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  require_problem(table, index, y, problem, bytes);
  variant = resolved(variant);
  with_word("gather", element_bytes, [&](auto word) {
    using Word = decltype(word);
    const std::int64_t row_bytes = problem.inner * bytes;
    if (problem.outer * problem.count * row_bytes == 0) return;
    if (variant == Variant::naive)
      launch_naive(static_cast<const Word*>(table), index, static_cast<Word*>(y),
                   rows_of<Word>(problem, row_bytes), stream);
    else
      launch_vectorized(table, index, y, problem, row_bytes, stream);
  });
  return variant;
}

Work work(Dtype dtype, const Problem& problem, std::int64_t index_bytes) {
  const double rows = static_cast<double>(problem.outer) * static_cast<double>(problem.count);
  const double row_bytes = static_cast<double>(problem.inner) * static_cast<double>(size_of(dtype));
  return {.bytes = 2 * rows * row_bytes +
                   static_cast<double>(problem.count) * static_cast<double>(index_bytes),
          .written = rows * row_bytes,
          .flops = 0};
}

} // namespace kg::gather
