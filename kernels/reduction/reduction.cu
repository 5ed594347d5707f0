// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A reduction reads every element once and does one operation with it: only memory can be the
// limit. Bytes: size_of(T) per element and per result; flops: one per element. Expected on an H200:
// 4.2 TB/s read for one result, for rows of 1024 and more elements and for columns of large
// matrices, as CUB reaches.
//
// Every order of additions is fixed: no atomics, so a repeated run gives the same bits. Few results
// therefore take two launches (pieces of the axis, then the pieces' partial results) where an
// atomic per block would take one; the second costs about 2 us and buys reproducibility. A
// multiprocessor has 64 KiB of loads under way (4 blocks, 4 loads of 16 bytes per thread); it needs
// about 28 (elementwise.cu says why). Where the axis is not the last, neighbouring threads take
// neighbouring results, 16 bytes of them each; a thread per row would read each line of memory many
// times.
#include "reduction/reduction.h"

#include "reduction/columns_kernels.h"
#include "reduction/functors.h"
#include "reduction/naive_kernels.h"
#include "reduction/rows_kernels.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <bit>
#include <string>
#include <type_traits>

namespace kg::reduction {
namespace {

template <class T>
using Input = View<const T, 3>;
template <class F>
using Accumulator = typename F::Accumulator;

constexpr std::int64_t kAccumulatorBytes = 4; // float or unsigned

std::int64_t resident_blocks() { return std::int64_t{device_properties().sm_count} * kBlocksPerSm; }

std::int64_t power_of_two_from(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

unsigned grid_for(std::int64_t items, std::int64_t per_block) {
  return grid_x(div_up(items, per_block), "reduction: the results", "split the tensor by outer");
}

// Whether each result's elements lie side by side.
template <class T>
bool is_rows(const Input<T>& x) {
  return x.shape[2] == 1 && (x.stride[1] == 1 || x.shape[1] <= 1);
}

// How the axis is cut for one launch.
struct Pieces {
  std::int64_t count;
  std::int64_t size;
};

// Rows that a warp does not take: as many pieces as fill the device, each of at least one 16-byte
// load per thread and a multiple of it, so that alignment carries over.
template <class T>
Pieces row_pieces(std::int64_t rows, std::int64_t cols) {
  if (cols <= kWarpMaxCols) return {1, cols};
  constexpr std::int64_t kLeast = kThreads * kPackElements<T>;
  const std::int64_t wanted = std::max<std::int64_t>(resident_blocks() / rows, 1);
  const std::int64_t size = div_up(div_up(cols, wanted), kLeast) * kLeast;
  return {div_up(cols, size), size};
}

// Lanes for each row of a warp's.
template <class T>
int row_lanes(std::int64_t cols) {
  const std::int64_t packs = std::max<std::int64_t>(div_up(cols, kPackElements<T>), 1);
  return static_cast<int>(std::min<std::int64_t>(power_of_two_from(packs), kLanes));
}

// Packs that a block is wide: a warp's, fewer where there are no more, more where the axis is too
// short for so many layers.
int tile_width(std::int64_t packs, std::int64_t axis) {
  auto width = static_cast<int>(std::min<std::int64_t>(power_of_two_from(packs), kLanes));
  while (width < kThreads && kThreads / width * kColumnLoads > axis) width *= 2;
  return width;
}

// Results that move in one access: whole packs stay within one outer index.
template <class T>
int results_per_pack(const Input<T>& x) {
  return x.shape[2] % kPackElements<T> == 0 ? kPackElements<T> : 1;
}

// As many pieces as fill the device, none so small that writing and reading its partial results
// would count.
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

template <class T>
Columns columns_of(const Input<T>& x) {
  return {x.shape[0], x.shape[1], x.shape[2], x.stride[0], x.stride[1]};
}

template <class F, class In, class T>
void launch_naive(const F& functor, const Input<In>& x, T* out, Stream& stream) {
  const std::int64_t results = x.shape[0] * x.shape[2];
  launch(naive<F, In, T>,
         {.grid = grid_for(results, kThreads), .block = kThreads, .stream = &stream}, functor,
         x.data, columns_of(x), out);
}

template <class F, class T>
void launch_rows(const F& functor, const Input<T>& x, T* out, Accumulator<F>* partials,
                 Stream& stream) {
  const auto [rows, cols, one] = x.shape;
  const std::int64_t leading = x.stride[0];
  if (cols <= kWarpMaxCols) {
    const int lanes = row_lanes<T>(cols);
    launch(warp_rows<F, T, T>,
           {.grid = grid_for(rows, kThreads / lanes), .block = kThreads, .stream = &stream},
           functor, x.data, rows, cols, leading, lanes, Target<F, T>{out, nullptr});
    return;
  }
  const Pieces pieces = row_pieces<T>(rows, cols);
  const bool whole = pieces.count == 1;
  launch(block_rows<F, T, T>,
         {.grid = dim3(static_cast<unsigned>(pieces.count),
                       static_cast<unsigned>(std::min(rows, resident_blocks()))),
          .block = kThreads,
          .stream = &stream},
         whole ? functor : functor.partial(), x.data, rows, cols, leading, pieces.size,
         Target<F, T>{out, whole ? nullptr : partials});
  if (!whole)
    launch(naive_block<F, Accumulator<F>, T>,
           {.grid = static_cast<unsigned>(rows), .block = kThreads, .stream = &stream}, functor,
           partials, pieces.count, std::int64_t{1}, pieces.count, out);
}

template <class F, class T, int Count>
void launch_columns(const F& functor, const Input<T>& x, T* out, Accumulator<F>* partials,
                    Stream& stream) {
  const std::int64_t results = x.shape[0] * x.shape[2];
  const Pieces pieces = column_pieces(x);
  const bool whole = pieces.count == 1;
  const int width = tile_width(results / Count, x.shape[1]);
  launch(column_tiles<F, T, Count, T>,
         {.grid = dim3(grid_for(results / Count, width), static_cast<unsigned>(pieces.count)),
          .block = kThreads,
          .stream = &stream},
         whole ? functor : functor.partial(), x.data, columns_of(x), width, pieces.size,
         Target<F, T>{out, whole ? nullptr : partials});
  if (!whole)
    launch_naive(functor,
                 packed(static_cast<const Accumulator<F>*>(partials), {1, pieces.count, results}),
                 out, stream);
}

// Whether packs of results can be read and written whole.
template <class T>
bool moves_packs(const Input<T>& x, const T* out) {
  const auto aligned = [](std::int64_t elements) { return elements % kPackElements<T> == 0; };
  return results_per_pack(x) > 1 && elements_to_boundary(x.data) == 0 &&
         elements_to_boundary(out) == 0 && aligned(x.stride[0]) && aligned(x.stride[1]);
}

template <class F, class T>
void launch_variant(const F& functor, const Input<T>& x, T* out, void* workspace, Variant variant,
                    Stream& stream) {
  auto* const partials = static_cast<Accumulator<F>*>(workspace);
  if (variant == Variant::naive) {
    if (x.shape[0] * x.shape[2] > 1) return launch_naive(functor, x, out, stream);
    launch(naive_block<F, T, T>, {.grid = 1, .block = kThreads, .stream = &stream}, functor, x.data,
           x.shape[1], x.stride[1], std::int64_t{0}, out);
  } else if (is_rows(x)) {
    launch_rows(functor, x, out, partials, stream);
  } else if (moves_packs(x, out)) {
    launch_columns<F, T, kPackElements<T>>(functor, x, out, partials, stream);
  } else {
    launch_columns<F, T, 1>(functor, x, out, partials, stream);
  }
}

template <class T>
void launch_operation(Op op, const Input<T>& x, T* out, void* workspace, Variant variant,
                      Stream& stream) {
  if constexpr (std::is_same_v<T, std::int32_t>) {
    launch_variant(Sum<unsigned>{}, x, out, workspace, variant, stream);
  } else if (op == Op::sum || op == Op::mean) {
    const float divisor = op == Op::mean ? static_cast<float>(x.shape[1]) : 1.0f;
    launch_variant(Sum<float>{divisor}, x, out, workspace, variant, stream);
  } else {
    launch_variant(Extremum{op == Op::max ? 1.0f : -1.0f}, x, out, workspace, variant, stream);
  }
}

// Additions after each other in reduce_strided by one of `threads`: whole packs, what lies before
// and behind them, and the tree over a pack.
template <class T>
std::int64_t strided_chain(std::int64_t count, std::int64_t threads) {
  constexpr std::int64_t kPack = kPackElements<T>;
  return div_up(count / kPack, threads) + div_up(2 * (kPack - 1), threads) + 3;
}

constexpr std::int64_t kBlockChain = kButterflySteps + kThreads / kLanes;

std::string text(const Extents& extents) {
  return std::to_string(extents[0]) + " x " + std::to_string(extents[1]) + " x " +
         std::to_string(extents[2]);
}

template <class T>
void require_input(const Input<T>& x) {
  const auto& [outer, axis, inner] = x.shape;
  require(outer >= 0 && axis >= 0 && inner >= 0,
          "reduction: x is " + text(x.shape) + "; no extent may be negative");
  require(inner <= 1 || x.stride[2] == 1,
          "reduction: x.stride[2] is " + std::to_string(x.stride[2]) + "; it must be 1");
  require(axis <= 1 || x.stride[1] >= inner,
          "reduction: x.stride[1] is " + std::to_string(x.stride[1]) +
              "; it must be at least inner = " + std::to_string(inner));
  require(outer <= 1 || axis < 1 || x.stride[0] >= (axis - 1) * x.stride[1] + inner,
          "reduction: x.stride[0] is " + std::to_string(x.stride[0]) + "; the " + text(x.shape) +
              " elements must not overlap");
}

} // namespace

bool supports(Op op, Dtype dtype) {
  switch (dtype) {
  case Dtype::f32:
  case Dtype::f16:
  case Dtype::bf16: return true;
  case Dtype::i32: return op == Op::sum;
  default: return false;
  }
}

std::string_view name(Op op) {
  switch (op) {
  case Op::sum: return "sum";
  case Op::mean: return "mean";
  case Op::max: return "max";
  case Op::min: return "min";
  }
  return "";
}

std::string_view name(Variant variant) {
  switch (variant) {
  case Variant::automatic: return "automatic";
  case Variant::naive: return "naive";
  case Variant::tiled: return "tiled";
  }
  return "";
}

Extents merged(std::span<const std::int64_t> shape, std::size_t first, std::size_t last) {
  require(first <= last && last <= shape.size(),
          "reduction: axes [" + std::to_string(first) + ", " + std::to_string(last) +
              ") of a tensor of rank " + std::to_string(shape.size()) +
              "; give first <= last <= rank");
  Extents extents{1, 1, 1};
  for (std::size_t d = 0; d < shape.size(); ++d)
    extents[d < first ? 0 : d < last ? 1 : 2] *= shape[d];
  return extents;
}

template <class T>
std::size_t workspace_bytes(const View<const T, 3>& x, Variant variant) {
  const std::int64_t results = x.shape[0] * x.shape[2];
  if (variant == Variant::naive || results == 0) return 0;
  const Pieces pieces = pieces_of(x);
  if (pieces.count == 1) return 0;
  const std::int64_t bytes = pieces.count * results * kAccumulatorBytes;
  return static_cast<std::size_t>(div_up(bytes, kPackBytes) * kPackBytes);
}

template <class T>
Variant run(Op op, View<const T, 3> x, T* out, void* workspace, Variant variant, Stream& stream) {
  require(supports(op, dtype_of<T>), "reduction: there is no " + std::string(name(op)) + " of " +
                                         std::string(kg::name(dtype_of<T>)) +
                                         "; use f32, f16 or bf16");
  require_input(x);
  if (variant == Variant::automatic) variant = Variant::tiled;
  const std::int64_t results = x.shape[0] * x.shape[2];
  if (results == 0) return variant;
  require(out != nullptr,
          "reduction: out is null; pass device memory for " + std::to_string(results) + " results");
  require(x.shape[1] > 0 || op == Op::sum || op == Op::mean,
          "reduction: x is " + text(x.shape) + "; a " + std::string(name(op)) +
              " needs at least one element on the axis");
  require(x.shape[1] == 0 || x.data != nullptr,
          "reduction: x is null; pass device memory of " + text(x.shape) + " elements");
  const std::size_t needed = workspace_bytes(x, variant);
  require(needed == 0 || workspace != nullptr,
          "reduction: workspace is null; pass workspace_bytes() = " + std::to_string(needed) +
              " bytes of device memory");
  launch_operation(op, x, out, workspace, variant, stream);
  return variant;
}

template <class T>
std::int64_t chain(const View<const T, 3>& x, Variant variant) {
  const auto [outer, axis, inner] = x.shape;
  const std::int64_t results = outer * inner;
  if (results == 0) return 0;
  if (variant == Variant::naive) return results == 1 ? div_up(axis, kThreads) + kBlockChain : axis;
  const Pieces pieces = pieces_of(x);
  const bool whole = pieces.count == 1;
  if (is_rows(x)) {
    if (axis <= kWarpMaxCols) return strided_chain<T>(axis, row_lanes<T>(axis)) + kButterflySteps;
    return strided_chain<T>(pieces.size, kThreads) + kBlockChain +
           (whole ? 0 : div_up(pieces.count, kThreads) + kBlockChain);
  }
  // Without packs there are no fewer tiles, and no more layers.
  const int layers = kThreads / tile_width(results, axis);
  return div_up(pieces.size, layers) + std::bit_width(static_cast<unsigned>(layers)) +
         (whole ? 0 : pieces.count);
}

Work work(Dtype dtype, Extents extents) {
  const auto [outer, axis, inner] = extents;
  const auto results = static_cast<double>(outer) * static_cast<double>(inner);
  const double elements = results * static_cast<double>(axis);
  return {.bytes = static_cast<double>(size_of(dtype)) * (elements + results), .flops = elements};
}

template std::size_t workspace_bytes(const View<const float, 3>&, Variant);
template std::size_t workspace_bytes(const View<const f16, 3>&, Variant);
template std::size_t workspace_bytes(const View<const bf16, 3>&, Variant);
template std::size_t workspace_bytes(const View<const std::int32_t, 3>&, Variant);

template Variant run(Op, View<const float, 3>, float*, void*, Variant, Stream&);
template Variant run(Op, View<const f16, 3>, f16*, void*, Variant, Stream&);
template Variant run(Op, View<const bf16, 3>, bf16*, void*, Variant, Stream&);
template Variant run(Op, View<const std::int32_t, 3>, std::int32_t*, void*, Variant, Stream&);

template std::int64_t chain(const View<const float, 3>&, Variant);
template std::int64_t chain(const View<const f16, 3>&, Variant);
template std::int64_t chain(const View<const bf16, 3>&, Variant);
template std::int64_t chain(const View<const std::int32_t, 3>&, Variant);

} // namespace kg::reduction
