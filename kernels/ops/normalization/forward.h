// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Argument checks, kernel selection and launches of rmsnorm, layernorm and residual_rmsnorm.
#pragma once

#include "ops/normalization/forward_kernels.h"
#include "ops/normalization/persistent_row_kernel.h"
#include "ops/normalization/unsupported_cols.h"
#include "runtime/device_code.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cmath>
#include <string>
#include <utility>

namespace kg::normalization {

// Input of launch_variant: the kernels of a problem and its element type.
template <Kind kind, class T>
struct ForwardKernels {
  using Element = T;
  using Problem = Forward<T>;

  static void naive(const Problem& f, const LaunchConfig& config) {
    launch(normalization::naive<kind, T>, config, f);
  }
  template <int Count, int Packs>
  static void warp(const Problem& f, const LaunchConfig& config) {
    launch(warp_per_row<kind, T, Count, Packs>, config, f);
  }
  template <int Packs, int Stages>
  static constexpr auto persistent = block_in_ring<kind, T, kPackElements<T>, Packs, Stages>;
  template <int Count>
  static void rereading(const Problem& f, const LaunchConfig& config) {
    launch(block_rereading<kind, T, Count>, config, f);
  }
};

// Launches the first of Packs, More... whose registers hold the row.
template <class Kernels, int Count, int Packs, int... More>
void launch_warp(const typename Kernels::Problem& f, std::int64_t cols,
                 const LaunchConfig& config) {
  if constexpr (sizeof...(More) > 0) {
    if (cols > Packs * Count * kLanes) return launch_warp<Kernels, Count, More...>(f, cols, config);
  }
  static_assert(sizeof...(More) > 0 || Packs * Count * kLanes == kWarpMaxCols);
  Kernels::template warp<Count, Packs>(f, config);
}

template <class Kernels>
void launch_warp(const typename Kernels::Problem& f, std::int64_t cols, bool aligned,
                 const LaunchConfig& config) {
  if (!aligned) return launch_warp<Kernels, 1, 8, 32>(f, cols, config);
  if constexpr (kPackElements<typename Kernels::Element> == 4)
    return launch_warp<Kernels, 4, 1, 2, 4, 8>(f, cols, config);
  else
    return launch_warp<Kernels, 8, 1, 2, 4>(f, cols, config);
}

// The pipeline for f's rows, with two stages or one, and the number of vectors (gamma, beta) that
// fit with it. Rows with partial packs need all vectors in shared memory.
template <class T>
std::pair<RowPipelineShape, int> pipeline_shape(const Forward<T>& f) {
  const int all = (f.gamma != nullptr ? 1 : 0) + (f.beta != nullptr ? 1 : 0);
  const int least = f.cols % kPackElements<T> == 0 ? 0 : all;
  for (const auto shape : {row_pipeline_shape, single_stage_shape})
    for (int vectors = all; vectors >= least; --vectors) {
      const RowPipelineShape pipeline =
          shape(f.rows, f.cols, sizeof(T), vectors * padded_row_bytes(f.cols, sizeof(T)));
      if (pipeline.shared_bytes > 0) return {pipeline, vectors};
    }
  return {};
}

// Unaligned rows are read again: with one address per element, 64 registers cannot hold a thread's
// share of the row.
template <class Kernels, class Config>
void launch_block(const typename Kernels::Problem& f, std::int64_t rows, std::int64_t cols,
                  bool aligned, const Config& config_of) {
  constexpr int kCount = kPackElements<typename Kernels::Element>;
  const LaunchConfig config = config_of(rows, block_threads(cols));
  if (!aligned) return Kernels::template rereading<1>(f, config);
  if constexpr (requires { Kernels::template persistent<kLongRowPacks, kRowStages>; }) {
    if (const auto [pipeline, vectors] = pipeline_shape(f); pipeline.shared_bytes > 0) {
      LaunchConfig persistent_config = config_of(pipeline.blocks, pipeline.threads);
      persistent_config.shared_bytes = pipeline.shared_bytes;
      return launch(pipeline.stages == 1 ? Kernels::template persistent<kSingleStagePacks, 1>
                    : pipeline.is_short  ? Kernels::template persistent<kShortRowPacks, kRowStages>
                                         : Kernels::template persistent<kLongRowPacks, kRowStages>,
                    persistent_config, f, vectors);
    }
  } else if (cols <= kBlockMaxCols) {
    return Kernels::template in_registers<kCount>(f, config);
  }
  Kernels::template rereading<kCount>(f, config);
}

// variant: must be resolved; aligned: whether rows and parameters permit 16-byte accesses; `op`
// begins error messages.
template <class Kernels>
void launch_variant(const std::string& op, const typename Kernels::Problem& f, std::int64_t rows,
                    std::int64_t cols, bool aligned, Variant variant, Stream& stream) {
  const auto config = [&](std::int64_t blocks, int threads) {
    return LaunchConfig{.grid = grid_x(blocks, op + ": the rows", "split the matrix by rows"),
                        .block = static_cast<unsigned>(threads),
                        .stream = &stream};
  };
  switch (variant) {
  case Variant::automatic: break; // resolved by the caller
  case Variant::naive: Kernels::naive(f, config(div_up(rows, kNaiveThreads), kNaiveThreads)); break;
  case Variant::warp:
    launch_warp<Kernels>(f, cols, aligned,
                         config(div_up(rows, kRowsPerBlock), kRowsPerBlock * kLanes));
    break;
  case Variant::block: launch_block<Kernels>(f, rows, cols, aligned, config); break;
  }
}

// Returns the variant that runs. Throws Error if an argument is invalid.
template <class T>
Variant checked_variant(const std::string& op, MatrixView<const T> x, MatrixView<T> y,
                        float epsilon, Variant variant) {
  require_matrix(op + ": x", x);
  require_matrix(op + ": y", y);
  require(x.shape == y.shape, op + ": x is " + text(x.shape) + " and y is " + text(y.shape) +
                                  "; the shapes must be equal");
  require(epsilon >= 0 && std::isfinite(epsilon),
          op + ": epsilon is " + std::to_string(epsilon) + "; it must be finite and not negative");
  const std::int64_t cols = x.shape[1];
  variant = resolved(variant, cols);
  require(supports(variant, cols), unsupported_cols(op, variant, cols, kWarpMaxCols));
  return variant;
}

// A problem without elements launches nothing; statistics of rows without elements are not written.
template <Kind kind, class T>
Variant run_forward(const std::string& op, MatrixView<const T> x, const T* gamma, const T* beta,
                    float epsilon, MatrixView<T> y, float* mean, float* rstd, Variant variant,
                    Stream& stream) {
  variant = checked_variant(op, x, y, epsilon, variant);
  if (x.size() == 0) return variant;
  const auto [rows, cols] = x.shape;
  const Forward<T> f{x.data,      x.stride[0], gamma, beta, epsilon, y.data,
                     y.stride[0], mean,        rstd,  rows, cols};
  const bool aligned =
      rows_are_aligned(x) && rows_are_aligned(y) && is_aligned(gamma) && is_aligned(beta);
  launch_variant<ForwardKernels<kind, T>>(op, f, rows, cols, aligned, variant, stream);
  return variant;
}

// One read and one write per element, and `vectors` parameters per column.
inline Work forward_work(Dtype dtype, std::int64_t rows, std::int64_t cols, int vectors,
                         double flops_per_element) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = (2 * elements + vectors * static_cast<double>(cols)) *
                   static_cast<double>(size_of(dtype)),
          .written = elements * static_cast<double>(size_of(dtype)),
          .flops = flops_per_element * elements};
}

} // namespace kg::normalization
