// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of rmsnorm and layernorm by kernels that keep no row: the naive variant, and kernels
// for unaligned rows or rows that exceed a block's registers. The latter read x and dy twice from
// memory, and once more from L2 if the rows in flight fit: 20 bytes per element instead of 12 in
// f32. Expected on an H200: 55 % of copy bandwidth, counting only the minimum bytes. Such rows are
// rare; with clusters, backward_cluster_kernel.h reads aligned ones once.
#pragma once

#include "ops/normalization/backward_kernels.h"

namespace kg::normalization::backward {

inline constexpr int kNaiveThreads = 128;

template <Kind kind, class T>
__global__ void __launch_bounds__(kNaiveThreads) naive_rows(Backward<T> f) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= f.rows) return;
  const T* const x = f.x + row * f.x_stride;
  const T* const dy = f.dy + row * f.dy_stride;
  T* const dx = f.dx + row * f.dx_stride;
  const Statistics s = statistics<kind>(f, row);
  const auto n = [&](std::int64_t j) { return (to_float(x[j]) - s.mean) * s.rstd; };
  const auto g = [&](std::int64_t j) {
    return f.gamma == nullptr ? to_float(dy[j]) : to_float(dy[j]) * to_float(f.gamma[j]);
  };
  RowSums sums = {0, 0};
  for (std::int64_t j = 0; j < f.cols; ++j) {
    const float gradient = g(j);
    sums.g += gradient;
    sums.gn += gradient * n(j);
  }
  const RowSums mean = means<kind>(sums, f.reciprocal);
  for (std::int64_t j = 0; j < f.cols; ++j)
    dx[j] = from_float<T>(s.rstd * (g(j) - mean.g - n(j) * mean.gn));
}

template <Kind kind, class T>
__global__ void __launch_bounds__(kNaiveThreads) naive_columns(Backward<T> f) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= f.cols) return;
  float dgamma = 0;
  float dbeta = 0;
  for (std::int64_t row = 0; row < f.rows; ++row) {
    const Statistics s = statistics<kind>(f, row);
    const float dy = to_float(f.dy[row * f.dy_stride + column]);
    dgamma += dy * ((to_float(f.x[row * f.x_stride + column]) - s.mean) * s.rstd);
    dbeta += dy;
  }
  if (f.dgamma != nullptr) f.dgamma[column] = from_float<T>(dgamma);
  if (f.dbeta != nullptr) f.dbeta[column] = from_float<T>(dbeta);
}

// Computes dx only, one block per row.
template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kMostThreads) block_rereading(Backward<T> f) {
  constexpr int kPacksInFlight = 2;
  __shared__ RowSums scratch[kScratchSums];
  const std::int64_t row = blockIdx.x;
  const T* const x = f.x + row * f.x_stride;
  const T* const dy = f.dy + row * f.dy_stride;
  const std::int64_t packs = (f.cols + Count - 1) / Count;
  const Statistics s = statistics<kind>(f, row);
  // Calls use(pack number, g, n) for each vector of the thread.
  const auto each = [&](auto use) {
    for (std::int64_t first = threadIdx.x; first < packs; first += kPacksInFlight * blockDim.x) {
      StoredPack<T, Count> stored_x[kPacksInFlight];
      StoredPack<T, Count> stored_dy[kPacksInFlight];
      StoredPack<T, Count> gamma[kPacksInFlight] = {};
      KG_UNROLL
      for (int p = 0; p < kPacksInFlight; ++p) {
        stored_x[p] = load_stored<T, Count>(x, first + p * blockDim.x, f.cols);
        stored_dy[p] = load_stored<T, Count>(dy, first + p * blockDim.x, f.cols);
        if (f.gamma != nullptr)
          gamma[p] = load_stored<T, Count>(f.gamma, first + p * blockDim.x, f.cols);
      }
      loaded(stored_x);
      loaded(stored_dy);
      loaded(gamma);
      KG_UNROLL
      for (int p = 0; p < kPacksInFlight; ++p) {
        const std::int64_t pack = first + p * blockDim.x;
        const Floats<Count> g = widened(stored_dy[p]);
        Floats<Count> n = normalized(widened(stored_x[p]), s);
        cut(n, elements_in_row<Count>(pack, f.cols));
        use(pack, f.gamma == nullptr ? g : weighted(g, widened(gamma[p])), n);
      }
    }
  };
  using Values = Floats<Count>;
  RowSums own = {0, 0};
  each([&](std::int64_t, const Values& g, const Values& n) { add_to_row(own, g, n); });
  const RowSums mean = means<kind>(BlockSums<kind>(scratch)(own), f.reciprocal);
  each([&](std::int64_t pack, const Values& g, const Values& n) {
    store_pack<T, Count>(f.dx + row * f.dx_stride, pack, f.cols, gradients(g, n, s.rstd, mean));
  });
}

// Computes column sums only: a block takes kStripCols columns of every gridDim.y-th row.
template <Kind kind, class T, int Count>
__global__ void __launch_bounds__(kStripCols / Count) column_partials(Backward<T> f) {
  constexpr int kRowsInFlight = 4;
  const std::int64_t pack = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int in_row = elements_in_row<Count>(pack, f.cols);
  if (in_row <= 0) return;
  Floats<Count> dgamma = {};
  Floats<Count> dbeta = {};
  for (std::int64_t first = blockIdx.y; first < f.rows; first += kRowsInFlight * gridDim.y) {
    StoredPack<T, Count> x[kRowsInFlight] = {};
    StoredPack<T, Count> dy[kRowsInFlight] = {};
    Statistics s[kRowsInFlight] = {};
    KG_UNROLL
    for (int r = 0; r < kRowsInFlight; ++r) {
      const std::int64_t row = first + r * static_cast<std::int64_t>(gridDim.y);
      if (row >= f.rows) continue; // zeros add nothing
      x[r] = load_stored<T, Count>(f.x + row * f.x_stride, pack, f.cols);
      dy[r] = load_stored<T, Count>(f.dy + row * f.dy_stride, pack, f.cols);
      s[r] = statistics<kind>(f, row);
    }
    loaded(x);
    loaded(dy);
    KG_UNROLL
    for (int r = 0; r < kRowsInFlight; ++r) {
      Floats<Count> n = normalized(widened(x[r]), s[r]);
      cut(n, in_row);
      add_to_columns(dgamma, dbeta, widened(dy[r]), n);
    }
  }
  store_partial<kind>(f, blockIdx.y, 0, pack, dgamma);
  if constexpr (kind == Kind::layer) store_partial<kind>(f, blockIdx.y, 1, pack, dbeta);
}

} // namespace kg::normalization::backward
