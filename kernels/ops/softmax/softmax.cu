// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects the softmax kernel. The lower bound is one read and one write per element (8 bytes for
// f32, 4 for f16 and bf16). The arithmetic, about 15 instructions per element with expf, is a third
// of what an H200 can issue in that time. It uses the difference x - m, not x log2 e - m log2 e,
// because rounding these products would cost accuracy on large logits.
#include "ops/softmax/softmax.h"

#include "ops/softmax/block_kernels.h"
#include "ops/softmax/chunked_row_kernel.h"
#include "ops/softmax/persistent_row_kernel.h"
#include "ops/softmax/warp_kernel.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"
#include "runtime/resident_clusters.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::softmax {

constexpr int kNaiveThreads = 128;

template <Kind kind, class T>
__global__ void __launch_bounds__(kNaiveThreads)
    naive(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride, std::int64_t rows,
          std::int64_t cols) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* from = x + row * x_stride;
  T* to = y + row * y_stride;
  float maximum = kPadding; // fmaxf ignores NaN; the sum propagates it
  for (std::int64_t j = 0; j < cols; ++j) maximum = fmaxf(maximum, to_float(from[j]));
  float sum = 0;
  for (std::int64_t j = 0; j < cols; ++j) sum += expf(to_float(from[j]) - maximum);
  const float by = normalizer<kind>(sum);
  for (std::int64_t j = 0; j < cols; ++j)
    to[j] = from_float<T>(normalized<kind>(kept<kind>(to_float(from[j]) - maximum), by));
}

namespace {

// For one block per row: eight to 32 elements per thread for rows up to 32,768.
constexpr int block_threads(std::int64_t cols) {
  return cols <= 4096 ? 256 : cols <= 16384 ? 512 : kMaxBlockThreads;
}

unsigned grid_for(std::int64_t blocks) {
  return grid_x(blocks, "softmax: the rows", "split the matrix by rows");
}

template <Kind kind, class T>
void launch_naive(const MatrixView<const T>& x, const MatrixView<T>& y, Stream& stream) {
  const std::int64_t rows = x.shape[0];
  launch(naive<kind, T>,
         {.grid = grid_for(div_up(rows, kNaiveThreads)), .block = kNaiveThreads, .stream = &stream},
         x.data, x.stride[0], y.data, y.stride[0], rows, x.shape[1]);
}

// Launches the first of Packs, More... whose registers hold the row.
template <Kind kind, class T, int Count, int Packs, int... More>
void launch_warp(const MatrixView<const T>& x, const MatrixView<T>& y, Stream& stream) {
  if constexpr (sizeof...(More) > 0) {
    if (x.shape[1] > Packs * Count * kLanes)
      return launch_warp<kind, T, Count, More...>(x, y, stream);
  }
  static_assert(sizeof...(More) > 0 || Packs * Count * kLanes == kWarpMaxCols);
  const std::int64_t rows = x.shape[0];
  launch(warp_per_row<kind, T, Count, Packs>,
         {.grid = grid_for(div_up(rows, kRowsPerBlock)),
          .block = kRowsPerBlock * kLanes,
          .stream = &stream},
         x.data, x.stride[0], y.data, y.stride[0], rows, x.shape[1]);
}

template <Kind kind, class T>
void launch_warp(const MatrixView<const T>& x, const MatrixView<T>& y, bool aligned,
                 Stream& stream) {
  if (!aligned) return launch_warp<kind, T, 1, 2, 8, 32>(x, y, stream);
  if constexpr (sizeof(T) == 4)
    return launch_warp<kind, T, 4, 1, 2, 4, 8>(x, y, stream);
  else
    return launch_warp<kind, T, 8, 1, 2, 4>(x, y, stream);
}

template <Kind kind, class T, int kThreads>
void launch_chunked(const MatrixView<const T>& x, const MatrixView<T>& y, const ChunkShape& shape,
                    Stream& stream) {
  const auto [rows, cols] = x.shape;
  const auto blocks = static_cast<unsigned>(shape.blocks);
  auto* const kernel =
      blocks > 1 ? row_in_pieces<kind, T, true, kThreads> : row_in_pieces<kind, T, false, kThreads>;
  LaunchConfig config = {.grid = 1,
                         .block = kThreads,
                         .shared_bytes = shape.shared_bytes,
                         .stream = &stream,
                         .cluster = {blocks, 1, 1}};
  const int resident =
      blocks > 1 ? resident_clusters(kernel, config) : device_properties().sm_count;
  config.grid = grid_for(std::min<std::int64_t>(rows, resident) * shape.blocks);
  launch(kernel, config, x.data, x.stride[0], y.data, y.stride[0], rows, cols, shape.chunks,
         blocks);
}

template <Kind kind, class T>
void launch_block(const MatrixView<const T>& x, const MatrixView<T>& y, bool aligned,
                  Stream& stream) {
  const auto [rows, cols] = x.shape;
  constexpr int kCount = kPackElements<T>;
  if (aligned) {
    const RowPipelineShape pipeline = row_pipeline_shape(rows, cols, sizeof(T));
    if (pipeline.shared_bytes > 0)
      return launch(pipeline.is_short ? block_in_ring<kind, T, kCount, kShortRowPacks>
                                      : block_in_ring<kind, T, kCount, kLongRowPacks>,
                    {.grid = grid_for(pipeline.blocks),
                     .block = static_cast<unsigned>(pipeline.threads),
                     .shared_bytes = pipeline.shared_bytes,
                     .stream = &stream},
                    x.data, x.stride[0], y.data, y.stride[0], rows, cols);
    const ChunkShape chunked = chunk_shape(cols, sizeof(T));
    if (chunked.threads == kChunkThreads)
      return launch_chunked<kind, T, kChunkThreads>(x, y, chunked, stream);
    if (chunked.threads == kFewChunkThreads)
      return launch_chunked<kind, T, kFewChunkThreads>(x, y, chunked, stream);
  }
  constexpr std::size_t kScratch = kScratchFloats * sizeof(float);
  const std::size_t row = static_cast<std::size_t>(cols) * sizeof(float);
  const bool fits = !aligned && kScratch + row <= device_properties().shared_bytes_per_block_optin;
  launch(fits      ? block_in_shared<kind, T>
         : aligned ? block_two_reads<kind, T, kCount>
                   : block_two_reads<kind, T, 1>,
         {.grid = grid_for(rows),
          .block = static_cast<unsigned>(block_threads(cols)),
          .shared_bytes = fits ? kScratch + row : kScratch,
          .stream = &stream},
         x.data, x.stride[0], y.data, y.stride[0], cols);
}

template <Kind kind, class T>
void launch_variant(const MatrixView<const T>& x, const MatrixView<T>& y, Variant variant,
                    Stream& stream) {
  const bool aligned = rows_are_aligned(x) && rows_are_aligned(y);
  switch (variant) {
  case Variant::automatic: break; // run() has resolved it
  case Variant::naive: launch_naive<kind>(x, y, stream); break;
  case Variant::warp: launch_warp<kind>(x, y, aligned, stream); break;
  case Variant::block: launch_block<kind>(x, y, aligned, stream); break;
  }
}

} // namespace

bool supports(Variant variant, std::int64_t cols) {
  return variant != Variant::warp || cols <= kWarpMaxCols;
}

Variant resolved(Variant variant, std::int64_t cols) {
  if (variant != Variant::automatic) return variant;
  return supports(Variant::warp, cols) ? Variant::warp : Variant::block;
}

template <class T>
Variant run(Kind kind, MatrixView<const T> x, MatrixView<T> y, Variant variant, Stream& stream) {
  require_matrix("softmax: x", x);
  require_matrix("softmax: y", y);
  require(x.shape == y.shape, "softmax: x is " + text(x.shape) + " and y is " + text(y.shape) +
                                  "; the shapes must be equal");
  const std::int64_t cols = x.shape[1];
  variant = resolved(variant, cols);
  require(supports(variant, cols), "softmax: variant " + std::string(name(variant)) +
                                       " holds rows of at most " + std::to_string(kWarpMaxCols) +
                                       " elements, not " + std::to_string(cols) + "; use block");
  if (x.size() == 0) return variant;

  switch (kind) {
  case Kind::softmax: launch_variant<Kind::softmax>(x, y, variant, stream); break;
  case Kind::log_softmax: launch_variant<Kind::log_softmax>(x, y, variant, stream); break;
  }
  return variant;
}

template Variant run(Kind, MatrixView<const float>, MatrixView<float>, Variant, Stream&);
template Variant run(Kind, MatrixView<const f16>, MatrixView<f16>, Variant, Stream&);
template Variant run(Kind, MatrixView<const bf16>, MatrixView<bf16>, Variant, Stream&);

// A lane's or thread's elements one by one, in packs of 8, the widest; then five butterfly steps;
// then the warps.
std::int64_t chain(Variant variant, std::int64_t cols) {
  constexpr int kWidest = 8;
  const auto per_thread = [cols](int threads) {
    return div_up(div_up(cols, kWidest), threads) * kWidest;
  };
  switch (variant) {
  case Variant::automatic: return chain(resolved(variant, cols), cols);
  case Variant::naive: return cols;
  case Variant::warp: return per_thread(kLanes) + kButterflySteps;
  case Variant::block: // the longest of the paths for aligned and other rows
    return std::max(
        {kRowPipelineChain, chunk_chain(cols),
         per_thread(block_threads(cols)) + kButterflySteps + block_threads(cols) / kLanes});
  }
  return cols;
}

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = 2 * elements * static_cast<double>(size_of(dtype)),
          .written = elements * static_cast<double>(size_of(dtype)),
          .flops = 4 * elements};
}

} // namespace kg::softmax
