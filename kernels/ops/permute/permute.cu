// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element, 2 x its size in bytes, no arithmetic. Expected on an H200:
// copy bandwidth, 4.3 TB/s, if rows stay whole. If rows are transposed, as transpose: 92 to 95 % of
// that if both sides are aligned to 16 bytes or there are many tiles, else about 3.2 TB/s. Copy
// bandwidth again if one side has two to four elements and the other moves by 16 bytes (planes.h).
//
// The host merges axes first: most permutations in practice then are a batch of transpositions or a
// loop over rows, whatever their rank. Why not one kernel that steps through the axes of any
// permutation: one side is uncoalesced (`naive`), and the divisions per element cost as much as the
// memory accesses.
#include "ops/permute/permute.h"

#include "ops/permute/axes.h"
#include "ops/permute/planes.h"
#include "primitives/row_move.h"
#include "primitives/transpose_tile.h"
#include "primitives/transpose_unaligned.h"
#include "primitives/words.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstdint>
#include <string>

namespace kg::permute {

constexpr int kNaiveThreads = 256;
constexpr int kShortest = 16; // one side of a tile must reach this extent
static_assert(kTransposeBatchRank == kMaxRank - 2);

template <class Word>
__global__ void __launch_bounds__(kNaiveThreads)
    naive(const Word* __restrict__ x, Word* __restrict__ y, DividedAxes axes) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < axes.size) y[i] = x[source_of(i, axes, axes.rank)];
}

// For a last axis that stays last, with `cols` elements.
template <bool Shifted, class Word>
__global__ void __launch_bounds__(kRowThreads, kRowBlocksPerSm)
    rows(const Word* __restrict__ x, Word* __restrict__ y, DividedAxes axes, std::int64_t cols,
         std::int64_t tiles_across) {
  const int outer = axes.rank - 1;
  move_rows<Shifted, Word>(axes.size / cols, cols, tiles_across, [&](std::int64_t row) {
    return RowEnds<Word>{x + source_of(row, axes, outer), y + row * cols};
  });
}

// A batch of transpositions: a is the last axis of x, b the last axis of y, and the other axes
// index the batch.
template <int Bytes, class Word>
__global__ void __launch_bounds__(TransposePacks<Word, Bytes>::kThreads)
    tiled(const Word* __restrict__ x, Word* __restrict__ y, TransposeBatch batch) {
  transpose_tile<Word, Bytes>(x, y, batch);
}

// The same for rows at any alignment.
template <class Word>
__global__ void __launch_bounds__(UnalignedTile<Word>::kThreads)
    tiled_askew(const Word* __restrict__ x, Word* __restrict__ y, UnalignedTransposeBatch batch) {
  transpose_unaligned(x, y, batch);
}

namespace {

bool is_aligned(const void* pointer, std::size_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

template <class Word>
void launch_naive(const Word* x, Word* y, const Axes& axes, Stream& stream) {
  const unsigned grid =
      grid_x(div_up(axes.size, kNaiveThreads),
             "permute: " + std::to_string(axes.size) + " elements, one per thread,",
             "permute parts of the tensor");
  launch(naive<Word>, {.grid = grid, .block = kNaiveThreads, .stream = &stream}, x, y,
         divided(axes));
}

template <class Word>
void launch_rows(const Word* x, Word* y, const Axes& axes, Stream& stream) {
  constexpr int kCount = kPackElements<Word>;
  const std::int64_t cols = axes.extent[axes.rank - 1];
  const bool rows_alike = cols % kCount == 0 || axes.rank == 1;
  const bool together = rows_alike && words_past_boundary(x) == words_past_boundary(y);
  const RowTiles tiles =
      row_tiles<Word>(axes.size / cols, cols, rows_alike ? words_past_boundary(y) : kCount - 1);
  launch(together ? rows<false, Word> : rows<true, Word>,
         {.grid = row_grid(tiles), .block = tiles.block, .stream = &stream}, x, y, divided(axes),
         cols, tiles.across);
}

// Whether everything moves in 16-byte packs: the planes (`extent` elements each, `stride` apart),
// their matrices, and the pixels.
template <class Word>
bool moves_by_packs(const Word* x, const Word* y, std::int64_t extent, std::int64_t stride,
                    const TransposeBatch& batch) {
  const auto whole = [](std::int64_t elements) { return elements % kPackElements<Word> == 0; };
  bool steps = true;
  for (int d = 0; d < batch.batch_rank; ++d)
    steps = steps && whole(batch.x_step[d]) && whole(batch.y_step[d]);
  return is_aligned(x, kPackBytes) && is_aligned(y, kPackBytes) && whole(extent) && whole(stride) &&
         steps;
}

// Launches `planes` for planes of `extent` elements.
template <int kPlanes, bool kApart, class Word>
void launch_planes(const Word* x, Word* y, std::int64_t extent, std::int64_t matrices,
                   TransposeBatch& batch, Stream& stream) {
  const std::int64_t packs = extent / kPackElements<Word>;
  const std::int64_t blocks = div_up(packs, kPlanesThreads);
  (kApart ? batch.b_units : batch.a_units) = packs;
  (kApart ? batch.tiles_b : batch.tiles_a) = NarrowDivisor(blocks);
  const unsigned grid =
      grid_x(blocks * matrices,
             "permute: " + std::to_string(matrices) + " times " + std::to_string(kPlanes) +
                 " planes of " + std::to_string(extent) + " elements",
             "permute parts of the tensor");
  launch(planes<kPlanes, kApart, Word>, {.grid = grid, .block = kPlanesThreads, .stream = &stream},
         x, y, batch);
}

// The same for kFewest to kMost planes that move in packs; otherwise returns false.
template <bool kApart, class Word>
bool launch_few_planes(const Word* x, Word* y, std::int64_t count, std::int64_t extent,
                       std::int64_t matrices, TransposeBatch& batch, Stream& stream) {
  if (count < kFewest || count > kMost || (kApart ? batch.x_stride : batch.y_stride) != count ||
      !moves_by_packs(x, y, extent, kApart ? batch.y_stride : batch.x_stride, batch))
    return false;
  if (count == 2) launch_planes<2, kApart>(x, y, extent, matrices, batch, stream);
  if (count == 3) launch_planes<3, kApart>(x, y, extent, matrices, batch, stream);
  if (count == 4) launch_planes<4, kApart>(x, y, extent, matrices, batch, stream);
  return true;
}

template <class Word>
void launch_tiled(const Word* x, Word* y, const Axes& axes, Stream& stream) {
  std::int64_t y_stride[kMaxRank];
  std::int64_t step = 1;
  for (int d = axes.rank - 1; d >= 0; --d) {
    y_stride[d] = step;
    step *= axes.extent[d];
  }
  UnalignedTransposeBatch batch;
  const int last = axes.rank - 1;
  const std::int64_t b = axes.extent[last];
  batch.x_stride = axes.stride[last];
  std::int64_t a = 1;
  std::int64_t extent[kTransposeBatchRank] = {};
  for (int d = 0; d < last; ++d) {
    if (axes.stride[d] == 1) {
      a = axes.extent[d];
      batch.y_stride = y_stride[d];
    } else {
      extent[batch.batch_rank] = axes.extent[d];
      batch.x_step[batch.batch_rank] = axes.stride[d];
      batch.y_step[batch.batch_rank++] = y_stride[d];
    }
  }
  for (int d = 0; d < batch.batch_rank; ++d) batch.extent[d] = NarrowDivisor(extent[d]);
  const std::int64_t matrices = axes.size / (a * b);
  if (launch_few_planes<false>(x, y, b, a, matrices, batch, stream) ||
      launch_few_planes<true>(x, y, a, b, matrices, batch, stream))
    return;
  const std::string what = "permute: the tiles of " + std::to_string(axes.size) + " elements";
  const std::string fix = "permute parts of the tensor";
  if (const std::int64_t tiles = unaligned_tiles(x, y, a, b, matrices, batch)) {
    launch(tiled_askew<Word>,
           {.grid = grid_x(tiles, what, fix),
            .block = UnalignedTile<Word>::kThreads,
            .stream = &stream},
           x, y, batch);
    return;
  }
  with_transpose_bytes(x, y, a, b, batch, [&](auto bytes) {
    const TransposeGrid grid = transpose_shape<Word, bytes>(a, b, matrices, batch, what, fix);
    launch(tiled<bytes, Word>, {.grid = grid.grid, .block = grid.block, .stream = &stream}, x, y,
           batch);
  });
}

// Merges a short last axis that stays last into the element. Returns the bytes of the new element,
// or `bytes` if the axis was not merged.
std::size_t widen(Axes& axes, std::size_t bytes, const void* x, const void* y) {
  const int last = axes.rank - 1;
  const auto wide = static_cast<std::size_t>(axes.extent[last]) * bytes;
  if (last == 0 || axes.stride[last] != 1 || (wide != 2 && wide != 4 && wide != 8) ||
      !is_aligned(x, wide) || !is_aligned(y, wide))
    return bytes;
  for (int d = 0; d < last; ++d) axes.stride[d] /= axes.extent[last];
  axes.size /= axes.extent[last];
  --axes.rank;
  return wide;
}

template <class Word>
void launch_coalesced(const Word* x, Word* y, const Axes& axes, Stream& stream) {
  const int last = axes.rank - 1;
  if (axes.stride[last] == 1) {
    const bool whole_packs = axes.extent[last] >= kPackElements<Word>;
    return whole_packs || last == 0 ? launch_rows(x, y, axes, stream)
                                    : launch_naive(x, y, axes, stream);
  }
  std::int64_t a = 1;
  for (int d = 0; d < last; ++d)
    if (axes.stride[d] == 1) a = axes.extent[d];
  const std::int64_t b = axes.extent[last];
  if (a < kShortest && b < kShortest) return launch_naive(x, y, axes, stream);
  launch_tiled(x, y, axes, stream);
}

void require_permutation(const Permutation& permutation) {
  const int rank = permutation.rank;
  require(rank >= 1 && rank <= kMaxRank, "permute: the rank is " + std::to_string(rank) +
                                             "; it must be 1 to " + std::to_string(kMaxRank));
  bool seen[kMaxRank] = {};
  for (int d = 0; d < rank; ++d) {
    require_extent("permute: extent " + std::to_string(d), permutation.shape[d]);
    const int axis = permutation.order[d];
    require(axis >= 0 && axis < rank && !seen[axis],
            "permute: order[" + std::to_string(d) + "] is " + std::to_string(axis) +
                "; each axis from 0 to " + std::to_string(rank - 1) + " must occur once");
    seen[axis] = true;
  }
}

} // namespace

Variant run(const void* x, void* y, const Permutation& permutation, std::size_t element_bytes,
            Variant variant, Stream& stream) {
  require_permutation(permutation);
  with_word("permute", element_bytes, [](auto) {});
  variant = resolved(variant);
  Axes axes = merged_axes(permutation);
  if (axes.size == 0) return variant;
  require(x != nullptr, "permute: x is null; pass device memory");
  require(y != nullptr, "permute: y is null; pass device memory");
  if (variant == Variant::coalesced) element_bytes = widen(axes, element_bytes, x, y);
  with_word("permute", element_bytes, [&](auto word) {
    using Word = decltype(word);
    const auto* from = static_cast<const Word*>(x);
    auto* to = static_cast<Word*>(y);
    if (variant == Variant::naive)
      launch_naive(from, to, axes, stream);
    else
      launch_coalesced(from, to, axes, stream);
  });
  return variant;
}

Work work(Dtype dtype, const Permutation& permutation) {
  double elements = 1;
  for (int d = 0; d < permutation.rank; ++d) elements *= static_cast<double>(permutation.shape[d]);
  return {.bytes = 2 * elements * static_cast<double>(size_of(dtype)),
          .written = elements * static_cast<double>(size_of(dtype)),
          .flops = 0};
}

} // namespace kg::permute
