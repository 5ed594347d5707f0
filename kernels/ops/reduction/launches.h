// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects the kernels and grids that reduce a tensor, the same for every functor. Included by the
// .cu files of reductions.
#pragma once

#include "ops/reduction/columns_kernels.h"
#include "ops/reduction/naive_kernels.h"
#include "ops/reduction/reduction.h"
#include "ops/reduction/rows_kernels.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kg::reduction {

template <class T>
using Input = View<const T, 3>;
template <class F>
using Accumulator = typename F::Accumulator;

inline std::int64_t resident_blocks() {
  return std::int64_t{device_properties().sm_count} * kBlocksPerSm;
}

inline std::int64_t power_of_two_from(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

inline unsigned grid_for(std::int64_t items, std::int64_t per_block) {
  return grid_x(div_up(items, per_block), "reduction: the results", "split the tensor by outer");
}

// Whether the elements of each result are contiguous.
template <class T>
bool is_rows(const Input<T>& x) {
  return x.shape[2] == 1 && (x.stride[1] == 1 || x.shape[1] <= 1);
}

// How one launch splits the axis.
struct Pieces {
  std::int64_t count;
  std::int64_t size;
};

// For rows too long for a warp: enough pieces to fill the device. A piece is a multiple of one
// 16-byte load per thread, so that alignment carries over.
template <class T>
Pieces row_pieces(std::int64_t rows, std::int64_t cols) {
  if (cols <= kWarpMaxCols) return {1, cols};
  constexpr std::int64_t kLeast = kThreads * kPackElements<T>;
  const std::int64_t wanted = std::max<std::int64_t>(resident_blocks() / rows, 1);
  const std::int64_t size = div_up(div_up(cols, wanted), kLeast) * kLeast;
  return {div_up(cols, size), size};
}

// Lanes per row in warp_rows.
template <class T>
int row_lanes(std::int64_t cols) {
  const std::int64_t packs = std::max<std::int64_t>(div_up(cols, kPackElements<T>), 1);
  return static_cast<int>(std::min<std::int64_t>(power_of_two_from(packs), kLanes));
}

// Width of a block in packs: a warp's, less if there are fewer packs, more if the axis is too short
// for that many layers.
inline int tile_width(std::int64_t packs, std::int64_t axis) {
  auto width = static_cast<int>(std::min<std::int64_t>(power_of_two_from(packs), kLanes));
  while (width < kThreads && kThreads / width * kColumnLoads > axis) width *= 2;
  return width;
}

// Results per access; a whole pack stays within one outer index.
template <class T>
int results_per_pack(const Input<T>& x) {
  return x.shape[2] % kPackElements<T> == 0 ? kPackElements<T> : 1;
}

// Enough pieces to fill the device, but none so small that the traffic of its partial results would
// matter.
template <class T>
Pieces column_pieces(const Input<T>& x) {
  constexpr std::int64_t kLeast = 64;
  const std::int64_t axis = x.shape[1];
  const std::int64_t packs = x.shape[0] * x.shape[2] / results_per_pack(x);
  const std::int64_t tiles = div_up(packs, tile_width(packs, axis));
  const std::int64_t wanted = std::max<std::int64_t>(resident_blocks() / tiles, 1);
  const std::int64_t size = std::max(div_up(axis, wanted), kLeast);
  return {std::max<std::int64_t>(div_up(axis, size), 1), size};
}

template <class T>
Pieces pieces_of(const Input<T>& x) {
  return is_rows(x) ? row_pieces<T>(x.shape[0], x.shape[1]) : column_pieces(x);
}

// Bytes for a first launch's partial results, aligned to 16.
template <class A, class T>
std::size_t partial_bytes(const Input<T>& x, Variant variant) {
  const std::int64_t results = x.shape[0] * x.shape[2];
  if (variant == Variant::naive || results == 0) return 0;
  const Pieces pieces = pieces_of(x);
  if (pieces.count == 1) return 0;
  const std::int64_t bytes = pieces.count * results * std::int64_t{sizeof(A)};
  return static_cast<std::size_t>(div_up(bytes, kPackBytes) * kPackBytes);
}

template <class T>
Columns columns_of(const Input<T>& x) {
  return {x.shape[0], x.shape[1], x.shape[2], x.stride[0], x.stride[1]};
}

template <class F, class T, class Out>
void launch_naive(const F& functor, const Input<T>& x, Out* out, Stream& stream) {
  const std::int64_t results = x.shape[0] * x.shape[2];
  launch(naive<F, T, Out>,
         {.grid = grid_for(results, kThreads), .block = kThreads, .stream = &stream}, functor,
         x.data, columns_of(x), out);
}

template <class F, class T, class Out>
void launch_rows(const F& functor, const Input<T>& x, Out* out, Accumulator<F>* partials,
                 Stream& stream) {
  const auto [rows, cols, one] = x.shape;
  const std::int64_t leading = x.stride[0];
  if (cols <= kWarpMaxCols) {
    const int lanes = row_lanes<T>(cols);
    launch(warp_rows<F, T, Out>,
           {.grid = grid_for(rows, kThreads / lanes), .block = kThreads, .stream = &stream},
           functor, x.data, rows, cols, leading, lanes, Target<F, Out>{out, nullptr});
    return;
  }
  const Pieces pieces = row_pieces<T>(rows, cols);
  const bool whole = pieces.count == 1;
  launch(block_rows<F, T, Out>,
         {.grid = dim3(static_cast<unsigned>(pieces.count),
                       static_cast<unsigned>(std::min(rows, resident_blocks()))),
          .block = kThreads,
          .stream = &stream},
         whole ? functor : functor.partial(), x.data, rows, cols, leading, pieces.size,
         Target<F, Out>{out, whole ? nullptr : partials});
  if (!whole)
    launch(naive_block<F, Accumulator<F>, Out>,
           {.grid = static_cast<unsigned>(rows), .block = kThreads, .stream = &stream}, functor,
           partials, pieces.count, std::int64_t{1}, pieces.count, out);
}

template <int Count, class F, class T, class Out>
void launch_columns(const F& functor, const Input<T>& x, Out* out, Accumulator<F>* partials,
                    Stream& stream) {
  const std::int64_t results = x.shape[0] * x.shape[2];
  const Pieces pieces = column_pieces(x);
  const bool whole = pieces.count == 1;
  const int width = tile_width(results / Count, x.shape[1]);
  launch(column_tiles<F, T, Count, Out>,
         {.grid = dim3(grid_for(results / Count, width), static_cast<unsigned>(pieces.count)),
          .block = kThreads,
          .stream = &stream},
         whole ? functor : functor.partial(), x.data, columns_of(x), width, pieces.size,
         Target<F, Out>{out, whole ? nullptr : partials});
  if (!whole)
    launch_naive(functor,
                 packed(static_cast<const Accumulator<F>*>(partials), {1, pieces.count, results}),
                 out, stream);
}

// Whether reads and writes can use whole packs of results.
template <class T, class Out>
bool moves_packs(const Input<T>& x, const Out* out) {
  const auto aligned = [](std::int64_t elements) { return elements % kPackElements<T> == 0; };
  return results_per_pack(x) > 1 && elements_to_boundary(x.data) == 0 &&
         elements_to_boundary(out) == 0 && aligned(x.stride[0]) && aligned(x.stride[1]);
}

template <class F, class T, class Out>
void launch_variant(const F& functor, const Input<T>& x, Out* out, void* workspace, Variant variant,
                    Stream& stream) {
  auto* const partials = static_cast<Accumulator<F>*>(workspace);
  if (variant == Variant::naive) {
    if (x.shape[0] * x.shape[2] > 1) return launch_naive(functor, x, out, stream);
    launch(naive_block<F, T, Out>, {.grid = 1, .block = kThreads, .stream = &stream}, functor,
           x.data, x.shape[1], x.stride[1], std::int64_t{0}, out);
  } else if (is_rows(x)) {
    launch_rows(functor, x, out, partials, stream);
  } else if (moves_packs(x, out)) {
    launch_columns<kPackElements<T>>(functor, x, out, partials, stream);
  } else {
    launch_columns<1>(functor, x, out, partials, stream);
  }
}

inline std::string text(const Extents& extents) {
  return std::to_string(extents[0]) + " x " + std::to_string(extents[1]) + " x " +
         std::to_string(extents[2]);
}

// Throws Error, with `what` in the message, unless the extents and strides of x are valid.
template <class T>
void require_input(const std::string& what, const Input<T>& x) {
  const auto& [outer, axis, inner] = x.shape;
  require(outer >= 0 && axis >= 0 && inner >= 0,
          what + ": x is " + text(x.shape) + "; no extent may be negative");
  require(inner <= 1 || x.stride[2] == 1,
          what + ": x.stride[2] is " + std::to_string(x.stride[2]) + "; it must be 1");
  require(axis <= 1 || x.stride[1] >= inner,
          what + ": x.stride[1] is " + std::to_string(x.stride[1]) +
              "; it must be at least inner = " + std::to_string(inner));
  require(outer <= 1 || axis < 1 || x.stride[0] >= (axis - 1) * x.stride[1] + inner,
          what + ": x.stride[0] is " + std::to_string(x.stride[0]) + "; the " + text(x.shape) +
              " elements must not overlap");
}

} // namespace kg::reduction
