// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A sum reads every element once and does one addition with it: only memory can be the limit.
// Bytes: 4 rows cols and the results; flops: rows cols. Expected on an H200: 4.2 TB/s read for axis
// all and for rows of 1024 and more elements, as CUB reaches.
//
// Every order of additions is fixed: no atomics, so a repeated run gives the same bits. Axis all
// therefore takes two launches (block partials, then one block over them) where an atomic per block
// would take one; the second costs about 2 us and buys reproducibility. Columns are read row by
// row, a warp side by side along a row, so that accesses coalesce; a thread per column alone would
// leave the device idle for tall matrices, so rows are cut into chunks whose partials a second
// launch adds.
#include "reduction/reduction.h"

#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/memory.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>

namespace kg::reduction {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kBlocksPerSm = 4;  // resident on every device of compute capability 7.5 and later
constexpr int kLanesPerLoad = 4; // floats in a 16-byte access
constexpr int kLoads = 2;        // such accesses under way per thread
constexpr int kMinRowsPerChunk = 64;
// Up to here a warp sums a row by itself: 16 loads of 16 bytes per lane, and no barrier.
constexpr int kWarpMaxCols = 2048;

// The sum over the block in a fixed order; every thread of the block must call. Valid in thread 0.
__device__ inline float block_sum(float value) {
  __shared__ float partial[kWarps];
  KG_UNROLL
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < kWarps ? partial[lane] : 0.0f;
    KG_UNROLL
    for (int step = kWarps / 2; step > 0; step /= 2) {
      value += __shfl_xor_sync(0xffffffffu, value, step);
    }
  }
  __syncthreads(); // partial is free for the next call
  return value;
}

// What one thread of `threads` adds up of `count` contiguous elements, in steps of the whole team.
// 16-byte loads where x is aligned to them; each lane of a load has its own chain.
__device__ inline float strided_sum(const float* x, std::int64_t count, std::int64_t thread,
                                    std::int64_t threads) {
  float sum[kLoads][kLanesPerLoad] = {};
  std::int64_t done = 0;
  if (reinterpret_cast<std::uintptr_t>(x) % sizeof(float4) == 0) {
    const auto* packs = reinterpret_cast<const float4*>(x);
    const std::int64_t full = count / kLanesPerLoad / (threads * kLoads) * (threads * kLoads);
    for (std::int64_t i = thread; i < full; i += threads * kLoads) {
      float4 value[kLoads];
      KG_UNROLL
      for (int l = 0; l < kLoads; ++l) value[l] = packs[i + l * threads];
      KG_UNROLL
      for (int l = 0; l < kLoads; ++l) {
        sum[l][0] += value[l].x;
        sum[l][1] += value[l].y;
        sum[l][2] += value[l].z;
        sum[l][3] += value[l].w;
      }
    }
    done = full * kLanesPerLoad;
  }
  for (std::int64_t i = done + thread; i < count; i += threads * kLanesPerLoad) {
    KG_UNROLL
    for (int c = 0; c < kLanesPerLoad; ++c) {
      if (i + c * threads < count) sum[0][c] += x[i + c * threads];
    }
  }
  KG_UNROLL
  for (int c = 0; c < kLanesPerLoad; ++c) sum[0][c] += sum[1][c];
  return (sum[0][0] + sum[0][1]) + (sum[0][2] + sum[0][3]);
}

// --- naive: one thread per result
// ------------------------------------------------------------------------------------------

__global__ void __launch_bounds__(kThreads)
    naive_rows(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t leading,
               float* out) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (std::int64_t col = 0; col < cols; ++col) sum += x[row * leading + col];
  out[row] = sum;
}

__global__ void __launch_bounds__(kThreads)
    naive_columns(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t leading,
                  float* out) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (col >= cols) return;
  float sum = 0;
  for (std::int64_t row = 0; row < rows; ++row) sum += x[row * leading + col];
  out[col] = sum;
}

// One block for the whole matrix: each thread its share of every row, then the block's sum.
__global__ void __launch_bounds__(kThreads)
    naive_all(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t leading,
              float* out) {
  float sum = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t col = threadIdx.x; col < cols; col += kThreads) sum += x[row * leading + col];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) *out = sum;
}

// --- tiled
// -----------------------------------------------------------------------------------------------------------------

// One warp per row, for rows that a block would not fill.
__global__ void __launch_bounds__(kThreads)
    warp_rows(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t leading,
              float* out) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (row >= rows) return; // the whole warp
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float sum = strided_sum(x + row * leading, cols, lane, 32);
  KG_UNROLL
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) out[row] = sum;
}

// Blocks take whole rows in turn.
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    block_rows(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t leading,
               float* out) {
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float sum = block_sum(strided_sum(x + row * leading, cols, threadIdx.x, kThreads));
    if (threadIdx.x == 0) out[row] = sum;
  }
}

// A packed matrix as one long row, cut into one piece per block: partials[block].
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    block_partials(const float* x, std::int64_t count, std::int64_t piece, float* partials) {
  const std::int64_t first = blockIdx.x * piece;
  const std::int64_t last = first + piece < count ? first + piece : count;
  const float sum =
      block_sum(first < last ? strided_sum(x + first, last - first, threadIdx.x, kThreads) : 0.0f);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

// Rows chunk * step ... of every column: partials[chunk * cols + col].
__global__ void __launch_bounds__(kThreads)
    column_partials(const float* x, std::int64_t rows, std::int64_t cols, std::int64_t leading,
                    std::int64_t rows_per_chunk, float* partials) {
  const std::int64_t col = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (col >= cols) return;
  const std::int64_t chunk = blockIdx.y;
  const std::int64_t first = chunk * rows_per_chunk;
  const std::int64_t last = first + rows_per_chunk < rows ? first + rows_per_chunk : rows;
  constexpr int kChains = 4; // loads under way per thread
  float sum[kChains] = {};
  std::int64_t row = first;
  for (; row + kChains <= last; row += kChains) {
    float value[kChains];
    KG_UNROLL
    for (int c = 0; c < kChains; ++c) value[c] = x[(row + c) * leading + col];
    KG_UNROLL
    for (int c = 0; c < kChains; ++c) sum[c] += value[c];
  }
  for (; row < last; ++row) sum[0] += x[row * leading + col];
  partials[chunk * cols + col] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

namespace {

std::int64_t resident_blocks() { return std::int64_t{device_properties().sm_count} * kBlocksPerSm; }

// Axis all, tiled: blocks of the first launch, and elements per block (a multiple of 16 bytes, so
// that alignment carries over).
struct Pieces {
  std::int64_t count;
  std::int64_t size;
};
Pieces pieces_of(std::int64_t elements) {
  constexpr std::int64_t kTile = kThreads * kLanesPerLoad * kLoads;
  const std::int64_t size =
      div_up(std::max<std::int64_t>(div_up(elements, resident_blocks()), 1), kTile) * kTile;
  return {std::max<std::int64_t>(div_up(elements, size), 1), size};
}

// Axis columns, tiled: as many chunks of rows as fill the device, none smaller than
// kMinRowsPerChunk.
struct Chunks {
  std::int64_t count;
  std::int64_t rows;
};
Chunks chunks_of(std::int64_t rows, std::int64_t cols) {
  const std::int64_t wanted =
      div_up(resident_blocks(), std::max<std::int64_t>(div_up(cols, kThreads), 1));
  const std::int64_t size = std::max<std::int64_t>(div_up(rows, wanted), kMinRowsPerChunk);
  return {std::max<std::int64_t>(div_up(rows, size), 1), size};
}

unsigned grid_for(std::int64_t items, std::int64_t per_block, const char* what) {
  return grid_x(div_up(items, per_block), std::string("reduction: the ") + what,
                "use Variant::tiled");
}

void run_rows(MatrixView<const float> x, float* out, Variant variant, Stream& stream) {
  const auto [rows, cols] = x.shape;
  const std::int64_t leading = x.stride[0];
  if (variant == Variant::naive) {
    launch(naive_rows,
           {.grid = grid_for(rows, kThreads, "rows"), .block = kThreads, .stream = &stream}, x.data,
           rows, cols, leading, out);
  } else if (cols <= kWarpMaxCols && div_up(rows, kWarps) <= device_properties().max_grid_x) {
    launch(warp_rows,
           {.grid = grid_for(rows, kWarps, "rows"), .block = kThreads, .stream = &stream}, x.data,
           rows, cols, leading, out);
  } else {
    const auto grid = static_cast<unsigned>(std::min(rows, resident_blocks()));
    launch(block_rows, {.grid = grid, .block = kThreads, .stream = &stream}, x.data, rows, cols,
           leading, out);
  }
}

void run_columns(MatrixView<const float> x, float* out, float* partials, Variant variant,
                 Stream& stream) {
  const auto [rows, cols] = x.shape;
  const std::int64_t leading = x.stride[0];
  const unsigned grid = grid_for(cols, kThreads, "columns");
  const Chunks chunks = chunks_of(rows, cols);
  if (variant == Variant::naive) {
    launch(naive_columns, {.grid = grid, .block = kThreads, .stream = &stream}, x.data, rows, cols,
           leading, out);
    return;
  }
  const bool one = chunks.count == 1;
  launch(column_partials,
         {.grid = dim3(grid, static_cast<unsigned>(chunks.count)),
          .block = kThreads,
          .stream = &stream},
         x.data, rows, cols, leading, chunks.rows, one ? out : partials);
  if (!one) {
    launch(naive_columns, {.grid = grid, .block = kThreads, .stream = &stream},
           static_cast<const float*>(partials), chunks.count, cols, cols, out);
  }
}

void run_all(MatrixView<const float> x, float* out, float* partials, Variant variant,
             Stream& stream) {
  const auto [rows, cols] = x.shape;
  const std::int64_t leading = x.stride[0];
  if (variant == Variant::naive) {
    launch(naive_all, {.grid = 1, .block = kThreads, .stream = &stream}, x.data, rows, cols,
           leading, out);
    return;
  }
  std::int64_t count = rows;
  if (leading == cols || rows == 1) {
    const Pieces pieces = pieces_of(rows * cols);
    count = pieces.count;
    launch(block_partials,
           {.grid = static_cast<unsigned>(pieces.count), .block = kThreads, .stream = &stream},
           x.data, rows * cols, pieces.size, partials);
  } else {
    run_rows(x, partials, Variant::tiled, stream);
  }
  launch(naive_all, {.grid = 1, .block = kThreads, .stream = &stream},
         static_cast<const float*>(partials), std::int64_t{1}, count, count, out);
}

} // namespace

std::string_view name(Axis axis) {
  switch (axis) {
  case Axis::all: return "all";
  case Axis::rows: return "rows";
  case Axis::columns: return "columns";
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

std::int64_t result_count(Axis axis, std::int64_t rows, std::int64_t cols) {
  switch (axis) {
  case Axis::all: return 1;
  case Axis::rows: return rows;
  case Axis::columns: return cols;
  }
  return 0;
}

std::size_t workspace_bytes(Axis axis, std::int64_t rows, std::int64_t cols, Variant variant) {
  if (variant == Variant::naive || rows == 0 || cols == 0) return 0;
  std::int64_t partials = 0;
  if (axis == Axis::all) partials = std::max(pieces_of(rows * cols).count, rows);
  if (axis == Axis::columns) {
    const Chunks chunks = chunks_of(rows, cols);
    if (chunks.count > 1) partials = chunks.count * cols;
  }
  return static_cast<std::size_t>(div_up(partials, kLanesPerLoad) * kLanesPerLoad) * sizeof(float);
}

Variant run(Axis axis, MatrixView<const float> x, float* out, void* workspace, Variant variant,
            Stream& stream) {
  const auto [rows, cols] = x.shape;
  require_matrix("reduction: x", x);
  if (variant == Variant::automatic) variant = Variant::tiled;
  const std::int64_t results = result_count(axis, rows, cols);
  if (results == 0) return variant;
  require(out != nullptr,
          "reduction: out is null; pass device memory for " + std::to_string(results) + " results");
  if (rows == 0 || cols == 0) {
    fill_bytes(out, 0, static_cast<std::size_t>(results) * sizeof(float), stream);
    return variant;
  }
  const std::size_t needed = workspace_bytes(axis, rows, cols, variant);
  require(needed == 0 || workspace != nullptr,
          "reduction: workspace is null; pass workspace_bytes() = " + std::to_string(needed) +
              " bytes of device memory");
  auto* const partials = static_cast<float*>(workspace);
  switch (axis) {
  case Axis::all: run_all(x, out, partials, variant, stream); break;
  case Axis::rows: run_rows(x, out, variant, stream); break;
  case Axis::columns: run_columns(x, out, partials, variant, stream); break;
  }
  return variant;
}

// Additions after each other in strided_sum by one of `threads` (the 16-byte loop and what is left,
// or the single elements of a misaligned row), plus the trees that follow.
static std::int64_t strided_chain(std::int64_t count, std::int64_t threads) {
  return div_up(count, threads * kLanesPerLoad) + 4;
}

std::int64_t chain(Axis axis, std::int64_t rows, std::int64_t cols, Variant variant) {
  constexpr std::int64_t kBlockTree = 8; // log2 of kThreads
  if (variant == Variant::automatic) variant = Variant::tiled;
  const std::int64_t naive_all_chain = rows * div_up(cols, kThreads) + kBlockTree;
  const std::int64_t tiled_row_chain = cols <= kWarpMaxCols
                                           ? strided_chain(cols, 32) + 5
                                           : strided_chain(cols, kThreads) + kBlockTree;
  switch (axis) {
  case Axis::rows: return variant == Variant::naive ? cols : tiled_row_chain;
  case Axis::columns: {
    if (variant == Variant::naive) return rows;
    const Chunks chunks = chunks_of(rows, cols);
    return div_up(chunks.rows, 4) + 4 + (chunks.count > 1 ? chunks.count : 0);
  }
  case Axis::all: {
    if (variant == Variant::naive) return naive_all_chain;
    const Pieces pieces = pieces_of(rows * cols);
    const std::int64_t packed = strided_chain(pieces.size, kThreads) + kBlockTree +
                                div_up(pieces.count, kThreads) + kBlockTree;
    const std::int64_t padded = tiled_row_chain + div_up(rows, kThreads) + kBlockTree;
    return std::max(packed, padded);
  }
  }
  return 0;
}

Work work(Axis axis, std::int64_t rows, std::int64_t cols) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  const auto results = static_cast<double>(result_count(axis, rows, cols));
  return {.bytes = sizeof(float) * (elements + results), .flops = elements};
}

} // namespace kg::reduction
