// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, 2 x its size in bytes, no arithmetic. Expected of
// `vectorized` on an H200: copy bandwidth, 4.3 TB/s, once the rows have some hundred bytes.
//
// Each part is a copy between rows that are packed in the part and strided by the whole's row
// length in the whole. All parts of a launch share a grid; their pointers are passed by value. Why
// not a launch per part: small parts would each wait for the previous one. Why not one loop over
// the whole that looks up its part: a search per access, where a grid dimension identifies the part
// for free. All blocks of a launch are as wide as its widest part needs, so a narrow part leaves
// most lanes of its blocks idle.
#include "ops/concat/concat.h"

#include "primitives/row_move.h"
#include "primitives/words.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kg::concat {

constexpr int kNaiveThreads = 256;

// Rows of `cols` elements: part row r begins at from + r * from_stride and moves to
// to + r * to_stride.
template <class Word>
struct Rows {
  const Word* from = nullptr;
  Word* to = nullptr;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
  std::int64_t cols = 0;
  std::int64_t tiles_across = 0;
};

template <class Word>
struct Parts {
  Rows<Word> part[kPartsPerLaunch];
};

// Copies part blockIdx.y.
template <class Word>
__global__ void __launch_bounds__(kNaiveThreads) naive(Parts<Word> parts, std::int64_t outer) {
  const Rows<Word> part = parts.part[blockIdx.y];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= outer * part.cols) return;
  const std::int64_t row = i / part.cols;
  const std::int64_t col = i % part.cols;
  part.to[row * part.to_stride + col] = part.from[row * part.from_stride + col];
}

// Copies part blockIdx.z.
template <bool Shifted, class Word>
__global__ void __launch_bounds__(kRowThreads, kRowBlocksPerSm)
    vectorized(Parts<Word> parts, std::int64_t outer) {
  const Rows<Word> part = parts.part[blockIdx.z];
  move_rows<Shifted, Word>(outer, part.cols, part.tiles_across, [&](std::int64_t row) {
    return RowEnds<Word>{part.from + row * part.from_stride, part.to + row * part.to_stride};
  });
}

namespace {

template <class Word>
void launch_naive(const Parts<Word>& parts, int count, std::int64_t outer, std::int64_t most_cols,
                  Stream& stream) {
  const unsigned grid =
      grid_x(div_up(outer * most_cols, kNaiveThreads),
             "concat: a part of " + std::to_string(outer * most_cols) + " elements, one each,",
             "use Variant::vectorized");
  launch(naive<Word>,
         {.grid = {grid, static_cast<unsigned>(count)}, .block = kNaiveThreads, .stream = &stream},
         parts, outer);
}

template <class Word>
void launch_vectorized(Parts<Word>& parts, int count, std::int64_t outer, std::int64_t most_cols,
                       Stream& stream) {
  constexpr int kCount = kPackElements<Word>;
  bool together = true;
  int head = 0; // largest offset of a result row from a pack boundary, in elements
  for (int p = 0; p < count; ++p) {
    const Rows<Word>& part = parts.part[p];
    const bool rows_alike = outer == 1 || part.to_stride % kCount == 0;
    head = std::max(head, rows_alike ? words_past_boundary(part.to) : kCount - 1);
    together = together && words_past_boundary(part.from) == words_past_boundary(part.to) &&
               (outer == 1 || (part.from_stride - part.to_stride) % kCount == 0);
  }
  const RowTiles tiles = row_tiles<Word>(outer, most_cols, head);
  const std::int64_t tile_cols = static_cast<std::int64_t>(tiles.block.x) * kRowPacks * kCount;
  for (int p = 0; p < count; ++p)
    parts.part[p].tiles_across = div_up(parts.part[p].cols + head, tile_cols);
  dim3 grid = row_grid(tiles);
  grid.z = static_cast<unsigned>(count);
  launch(together ? vectorized<false, Word> : vectorized<true, Word>,
         {.grid = grid, .block = tiles.block, .stream = &stream}, parts, outer);
}

template <class Word>
void launch_all(const std::vector<Rows<Word>>& all, std::int64_t outer, Variant variant,
                Stream& stream) {
  for (std::size_t first = 0; first < all.size(); first += kPartsPerLaunch) {
    const auto count = static_cast<int>(std::min<std::size_t>(kPartsPerLaunch, all.size() - first));
    Parts<Word> parts;
    std::int64_t most_cols = 0;
    for (int p = 0; p < count; ++p) {
      parts.part[p] = all[first + static_cast<std::size_t>(p)];
      most_cols = std::max(most_cols, parts.part[p].cols);
    }
    if (variant == Variant::naive)
      launch_naive(parts, count, outer, most_cols, stream);
    else
      launch_vectorized(parts, count, outer, most_cols, stream);
  }
}

// A non-empty part and its first column in the whole.
template <class Pointer>
struct Part {
  Pointer data;
  std::int64_t first;
  std::int64_t cols;
};

// The length of a row of the whole, in elements.
std::int64_t whole_cols(const Problem& problem) {
  std::int64_t extent = 0;
  for (const std::int64_t each : problem.extents) extent += each;
  return extent * problem.inner;
}

// Throws Error on invalid parts.
template <class Pointer>
std::vector<Part<Pointer>> checked_parts(Op op, std::span<const Pointer> parts, const void* whole,
                                         const Problem& problem, std::size_t element_bytes) {
  const std::string what = std::string(name(op)) + ": ";
  require_extent(what + "outer", problem.outer);
  require_extent(what + "inner", problem.inner);
  require(parts.size() == problem.extents.size(),
          what + std::to_string(parts.size()) + " pointers for " +
              std::to_string(problem.extents.size()) + " extents; give one per part");
  for (std::size_t p = 0; p < parts.size(); ++p)
    require_extent(what + "the extent of part " + std::to_string(p), problem.extents[p]);
  const auto bytes = [&](std::int64_t cols) {
    return problem.outer * cols * static_cast<std::int64_t>(element_bytes);
  };
  const std::int64_t whole_bytes = bytes(whole_cols(problem));
  require(whole != nullptr || whole_bytes == 0, what + "the whole is null; pass device memory");

  std::vector<Part<Pointer>> filled;
  std::int64_t first = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::int64_t cols = problem.extents[p] * problem.inner;
    if (bytes(cols) > 0) {
      const std::string part = what + "part " + std::to_string(p);
      require(parts[p] != nullptr, part + " is null; pass device memory");
      require_apart(part, parts[p], bytes(cols), "the whole", whole, whole_bytes);
      filled.push_back({parts[p], first, cols});
    }
    first += cols;
  }
  return filled;
}

} // namespace

std::string_view name(Op op) { return op == Op::concat ? "concat" : "split"; }

Variant run_concat(std::span<const void* const> parts, void* whole, const Problem& problem,
                   std::size_t element_bytes, Variant variant, Stream& stream) {
  const auto filled = checked_parts(Op::concat, parts, whole, problem, element_bytes);
  variant = resolved(variant);
  with_word("concat", element_bytes, [&](auto word) {
    using Word = decltype(word);
    std::vector<Rows<Word>> rows;
    for (const auto& part : filled)
      rows.push_back({static_cast<const Word*>(part.data), static_cast<Word*>(whole) + part.first,
                      part.cols, whole_cols(problem), part.cols});
    launch_all(rows, problem.outer, variant, stream);
  });
  return variant;
}

Variant run_split(const void* whole, std::span<void* const> parts, const Problem& problem,
                  std::size_t element_bytes, Variant variant, Stream& stream) {
  const auto filled = checked_parts(Op::split, parts, whole, problem, element_bytes);
  variant = resolved(variant);
  with_word("split", element_bytes, [&](auto word) {
    using Word = decltype(word);
    std::vector<Rows<Word>> rows;
    for (const auto& part : filled)
      rows.push_back({static_cast<const Word*>(whole) + part.first, static_cast<Word*>(part.data),
                      whole_cols(problem), part.cols, part.cols});
    launch_all(rows, problem.outer, variant, stream);
  });
  return variant;
}

Work work(Dtype dtype, const Problem& problem) {
  const double elements =
      static_cast<double>(problem.outer) * static_cast<double>(whole_cols(problem));
  return {.bytes = 2 * elements * static_cast<double>(size_of(dtype)),
          .written = elements * static_cast<double>(size_of(dtype)),
          .flops = 0};
}

} // namespace kg::concat
