// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What rmsnorm and layernorm do with a problem: check it, choose the kernel, launch it.
#pragma once

#include "normalization/forward_kernels.h"
#include "runtime/device_code.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/view.h"
#include "runtime/work.h"

#include <cmath>
#include <string>

namespace kg::normalization {

// The first of Packs, More... whose registers hold the row.
template <Kind kind, class T, int Count, int Packs, int... More>
void launch_warp(const Forward<T>& f, const LaunchConfig& config) {
  if constexpr (sizeof...(More) > 0) {
    if (f.cols > Packs * Count * kLanes) return launch_warp<kind, T, Count, More...>(f, config);
  }
  static_assert(sizeof...(More) > 0 || Packs * Count * kLanes == kWarpMaxCols);
  launch(warp_per_row<kind, T, Count, Packs>, config, f);
}

template <Kind kind, class T>
void launch_warp(const Forward<T>& f, bool aligned, const LaunchConfig& config) {
  if (!aligned) return launch_warp<kind, T, 1, 8, 32>(f, config);
  if constexpr (kPackElements<T> == 4)
    return launch_warp<kind, T, 4, 1, 2, 4, 8>(f, config);
  else
    return launch_warp<kind, T, 8, 1, 2, 4>(f, config);
}

// Unaligned rows are read again, too: with an address for each element, 64 registers do not hold a
// thread's share of the row.
template <Kind kind, class T, int Count>
void launch_block(const Forward<T>& f, const LaunchConfig& config) {
  if constexpr (Count > 1) {
    if (f.cols <= kBlockMaxCols) return launch(block_in_registers<kind, T, Count>, config, f);
  }
  launch(block_rereading<kind, T, Count>, config, f);
}

// `op` begins the messages. A problem without elements launches nothing: its statistics, of rows
// without elements, stay unwritten.
template <Kind kind, class T>
Variant run_forward(const std::string& op, MatrixView<const T> x, const T* gamma, const T* beta,
                    float epsilon, MatrixView<T> y, float* mean, float* rstd, Variant variant,
                    Stream& stream) {
  require_matrix(op + ": x", x);
  require_matrix(op + ": y", y);
  require(x.shape == y.shape, op + ": x is " + text(x.shape) + " and y is " + text(y.shape) +
                                  "; the shapes must be equal");
  require(epsilon >= 0 && std::isfinite(epsilon),
          op + ": epsilon is " + std::to_string(epsilon) + "; it must be finite and not negative");
  const auto [rows, cols] = x.shape;
  variant = resolved(variant, cols);
  require(supports(variant, cols), op + ": variant " + std::string(name(variant)) +
                                       " holds rows of at most " + std::to_string(kWarpMaxCols) +
                                       " elements, not " + std::to_string(cols) + "; use block");
  if (x.size() == 0) return variant;

  const Forward<T> f{x.data,      x.stride[0], gamma, beta, epsilon, y.data,
                     y.stride[0], mean,        rstd,  rows, cols};
  const bool aligned =
      rows_are_aligned(x) && rows_are_aligned(y) && is_aligned(gamma) && is_aligned(beta);
  const auto config = [&](std::int64_t blocks, int threads) {
    return LaunchConfig{.grid = grid_x(blocks, op + ": the rows", "split the matrix by rows"),
                        .block = static_cast<unsigned>(threads),
                        .stream = &stream};
  };
  switch (variant) {
  case Variant::automatic: break; // resolved above
  case Variant::naive:
    launch(naive<kind, T>, config(div_up(rows, kNaiveThreads), kNaiveThreads), f);
    break;
  case Variant::warp:
    launch_warp<kind>(f, aligned, config(div_up(rows, kRowsPerBlock), kRowsPerBlock * kLanes));
    break;
  case Variant::block:
    if (aligned)
      launch_block<kind, T, kPackElements<T>>(f, config(rows, block_threads(cols)));
    else
      launch_block<kind, T, 1>(f, config(rows, block_threads(cols)));
    break;
  }
  return variant;
}

// One read and one write per element, and `vectors` parameters per column.
inline Work forward_work(Dtype dtype, std::int64_t rows, std::int64_t cols, int vectors,
                         double flops_per_element) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = (2 * elements + vectors * static_cast<double>(cols)) *
                   static_cast<double>(size_of(dtype)),
          .flops = flops_per_element * elements};
}

} // namespace kg::normalization
