// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Argument checks, kernel selection and launches of rmsnorm_backward and layernorm_backward.
#pragma once

#include "ops/normalization/backward_cluster_kernel.h"
#include "ops/normalization/backward_long_rows.h"
#include "ops/normalization/backward_wide_cluster_kernel.h"
#include "ops/normalization/unsupported_cols.h"
#include "primitives/sum_partials.h"
#include "runtime/device_code.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <string>

namespace kg::normalization::backward {

template <Kind kind, class T, int Count>
void launch_warp(const Backward<T>& f, LaunchConfig config) {
  constexpr int kMost = kHeld / Count;
  // Rows of at most one vector per lane use one; rows processed by single elements are rare.
  if constexpr (Count > 1) {
    if (f.cols <= Count * kLanes) {
      config.shared_bytes = kWarpSharedBytes<kind, Count, 1>;
      return launch(warp_per_row<kind, T, Count, 1>, config, f);
    }
  }
  config.shared_bytes = kWarpSharedBytes<kind, Count, kMost>;
  launch(warp_per_row<kind, T, Count, kMost>, config, f);
}

// Unaligned rows are also read again: with one address per element, 128 registers cannot hold a
// thread's share. Column sums run first, since dx may be x or dy.
template <Kind kind, class T, int Count>
void launch_block(const Backward<T>& f, LaunchConfig config, unsigned rows) {
  config.block = static_cast<unsigned>(block_threads(f.cols));
  if constexpr (Count > 1) {
    if (f.cols <= kBlockMaxCols)
      return launch(block_per_row<kind, T, Count, kHeld / Count>, config, f);
  }
  if (f.partials != nullptr) {
    LaunchConfig columns = config;
    columns.grid = {static_cast<unsigned>(div_up(f.cols, kStripCols)), config.grid.x};
    columns.block = kStripCols / Count;
    launch(column_partials<kind, T, Count>, columns, f);
  }
  config.grid = rows;
  launch(block_rereading<kind, T, Count>, config, f);
}

template <Kind kind, class T, int Threads>
void launch_cluster_of(const Backward<T>& f, LaunchConfig config) {
  constexpr int kCount = kPackElements<T>;
  constexpr int kPacks = kClusterHeld / kCount;
  const unsigned blocks = config.cluster.x;
  const auto slice = static_cast<int>(div_up(div_up(f.cols, kCount), blocks));
  config.shared_bytes =
      ClusterMemory<kind, T, kCount, kPacks, Threads>::bytes(static_cast<int>(blocks));
  launch(cluster_per_row<kind, T, kCount, kPacks, Threads>, config, f, blocks, slice,
         static_cast<std::int64_t>(config.grid.x / blocks));
}

template <Kind kind, class T>
void launch_cluster(const Backward<T>& f, LaunchConfig config) {
  constexpr int kCount = kPackElements<T>;
  const unsigned blocks = config.cluster.x;
  const auto clusters = static_cast<std::int64_t>(config.grid.x / blocks);
  if (f.cols <= kClusterHeldCols) {
    constexpr int kQuarter = kMostThreads / 4;
    if (config.block.x == kQuarter) return launch_cluster_of<kind, T, kQuarter>(f, config);
    if (config.block.x == 2 * kQuarter) return launch_cluster_of<kind, T, 2 * kQuarter>(f, config);
    return launch_cluster_of<kind, T, kMostThreads>(f, config);
  }
  const auto threads = static_cast<int>(blocks * config.block.x);
  constexpr int kPacks = 2 * kClusterHeld / kCount;
  using Memory = WideMemory<kind, T, kCount, kPacks>;
  const auto packs = static_cast<int>(div_up(f.cols, threads * kCount));
  const int held = Memory::held(packs);
  config.shared_bytes = Memory::bytes(held);
  launch(wide_cluster_per_row<kind, T, kCount, kPacks>, config, f, blocks, threads, clusters, packs,
         held);
}

// `op` begins error messages. A problem without columns launches nothing; without rows, dgamma and
// dbeta are 0.
template <Kind kind, class T>
Variant run_backward(const std::string& op, MatrixView<const T> dy, MatrixView<const T> x,
                     const T* gamma, const float* mean, const float* rstd, MatrixView<T> dx,
                     T* dgamma, T* dbeta, void* workspace, Variant variant, Stream& stream) {
  require_matrix(op + ": dy", dy);
  require_matrix(op + ": x", x);
  require_matrix(op + ": dx", dx);
  require(dy.shape == x.shape && dx.shape == x.shape,
          op + ": dy is " + text(dy.shape) + ", x " + text(x.shape) + " and dx " + text(dx.shape) +
              "; the shapes must be equal");
  const std::int64_t rows = x.shape[0];
  const std::int64_t cols = x.shape[1];
  variant = resolved(variant, cols);
  require(supports(variant, cols), unsupported_cols(op, variant, cols, kWarpMaxCols));
  if (cols == 0) return variant;
  require(rows == 0 || rstd != nullptr, op + ": rstd is null; pass the forward run's");
  require(rows == 0 || kind == Kind::rms || mean != nullptr,
          op + ": mean is null; pass the forward run's");
  const bool columns = dgamma != nullptr || dbeta != nullptr;
  const std::size_t needed = columns ? workspace_bytes(kind, variant, rows, cols) : 0;
  require(needed == 0 || (workspace != nullptr && is_aligned(static_cast<float*>(workspace))),
          op + ": workspace is null or not aligned; pass " + std::to_string(needed) +
              " bytes of device memory at a multiple of " + std::to_string(kPackBytes));

  const Backward<T> f{dy.data,     dy.stride[0], x.data,
                      x.stride[0], gamma,        mean,
                      rstd,        dx.data,      dx.stride[0],
                      dgamma,      dbeta,        columns ? static_cast<float*>(workspace) : nullptr,
                      rows,        cols,         1.0f / static_cast<float>(cols)};
  const bool aligned =
      rows_are_aligned(dy) && rows_are_aligned(x) && rows_are_aligned(dx) && is_aligned(gamma);
  const std::int64_t blocks = parts(variant, rows, cols);
  const auto config = [&](std::int64_t grid, int threads) {
    return LaunchConfig{.grid = grid_x(grid, op + ": the rows", "split the matrix by rows"),
                        .block = static_cast<unsigned>(threads),
                        .stream = &stream};
  };
  if (variant == Variant::naive) { // column sums first, since dx may be x or dy
    if (columns)
      launch(naive_columns<kind, T>, config(div_up(cols, kNaiveThreads), kNaiveThreads), f);
    if (rows > 0)
      launch(naive_rows<kind, T>, config(div_up(rows, kNaiveThreads), kNaiveThreads), f);
    return variant;
  }
  if (rows > 0) {
    const LaunchConfig each = config(blocks, kRowsPerBlock * kLanes);
    const unsigned grid = config(rows, kLanes).grid.x;
    constexpr int kCount = kPackElements<T>;
    const auto of_clusters = [&] {
      const int of_row = cluster_blocks(cols);
      LaunchConfig of = config(blocks * of_row, cluster_threads(cols, of_row));
      of.cluster.x = static_cast<unsigned>(of_row);
      return of;
    };
    if (variant == Variant::warp)
      aligned ? launch_warp<kind, T, kCount>(f, each) : launch_warp<kind, T, 1>(f, each);
    else if (!aligned)
      launch_block<kind, T, 1>(f, each, grid);
    else if (variant == Variant::cluster)
      launch_cluster<kind>(f, of_clusters());
    else
      launch_block<kind, T, kCount>(f, each, grid);
  }
  if (columns) {
    if constexpr (kind == Kind::layer)
      launch_sum_partials<T, 2>(op, f.partials, blocks, cols, {dgamma, dbeta}, stream);
    else
      launch_sum_partials<T, 1>(op, f.partials, blocks, cols, {dgamma}, stream);
  }
  return variant;
}

// Two reads and one write per element; gamma and its `vectors` gradients per column; the same
// number of statistics per row.
inline Work backward_work(Kind kind, Dtype dtype, std::int64_t rows, std::int64_t cols,
                          double flops_per_element) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  const double own = static_cast<double>(vectors(kind));
  return {.bytes = (3 * elements + (1 + own) * static_cast<double>(cols)) *
                       static_cast<double>(size_of(dtype)) +
                   own * static_cast<double>(rows) * sizeof(float),
          .written =
              (elements + own * static_cast<double>(cols)) * static_cast<double>(size_of(dtype)),
          .flops = flops_per_element * elements};
}

} // namespace kg::normalization::backward
