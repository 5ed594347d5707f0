// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects the kernel. The lower bound is two reads and one write per element (12 bytes for f32, 6
// for f16 and bf16). With 4 flops per element, only memory can be the limit.
#include "ops/softmax_backward/softmax_backward.h"

#include "ops/softmax_backward/block_kernels.h"
#include "ops/softmax_backward/cluster_kernel.h"
#include "ops/softmax_backward/warp_kernel.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace kg::softmax_backward {

constexpr int kNaiveThreads = 128;

template <Kind kind, class T>
__global__ void __launch_bounds__(kNaiveThreads)
    naive(const T* y, std::int64_t y_stride, const T* dy, std::int64_t dy_stride, T* dx,
          std::int64_t dx_stride, std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const T* from_y = y + row * y_stride;
  const T* from_dy = dy + row * dy_stride;
  T* to = dx + row * dx_stride;
  float sum = 0;
  for (std::int64_t j = 0; j < cols; ++j)
    sum += term<kind>(to_float(from_y[j]), to_float(from_dy[j]));
  for (std::int64_t j = 0; j < cols; ++j)
    to[j] = from_float<T>(gradient<kind>(to_float(from_y[j]), to_float(from_dy[j]), sum));
}

namespace {

template <class T>
struct Problem {
  MatrixView<const T> y;
  MatrixView<const T> dy;
  MatrixView<T> dx;

  std::int64_t rows() const { return y.shape[0]; }
  std::int64_t cols() const { return y.shape[1]; }
  bool aligned() const {
    return rows_are_aligned(y) && rows_are_aligned(dy) && rows_are_aligned(dx);
  }
};

// Eight to 32 elements per thread for rows up to 32,768.
constexpr int block_threads(std::int64_t cols) {
  return cols <= 4096 ? 256 : cols <= 16384 ? 512 : kMaxBlockThreads;
}

unsigned grid_for(std::int64_t blocks) {
  return grid_x(blocks, "softmax_backward: the rows", "split the matrices by rows");
}

template <Kind kind, class T>
void launch_naive(const Problem<T>& problem, Stream& stream) {
  launch(naive<kind, T>,
         {.grid = grid_for(div_up(problem.rows(), kNaiveThreads)),
          .block = kNaiveThreads,
          .stream = &stream},
         problem.y.data, problem.y.stride[0], problem.dy.data, problem.dy.stride[0],
         problem.dx.data, problem.dx.stride[0], problem.rows(), problem.cols());
}

// Few packs for short rows, otherwise enough to hold kWarpMaxCols elements.
template <Kind kind, class T, int Count>
void launch_warp(const Problem<T>& problem, Stream& stream) {
  constexpr int kMost = kWarpMaxCols / (Count * kLanes);
  constexpr int kFew = kMost / 4;
  launch(problem.cols() <= kFew * Count * kLanes ? warp_per_row<kind, T, Count, kFew>
                                                 : warp_per_row<kind, T, Count, kMost>,
         {.grid = grid_for(div_up(problem.rows(), kRowsPerBlock)),
          .block = kRowsPerBlock * kLanes,
          .stream = &stream},
         problem.y.data, problem.y.stride[0], problem.dy.data, problem.dy.stride[0],
         problem.dx.data, problem.dx.stride[0], problem.rows(), problem.cols());
}

template <Kind kind, class T, int Count>
void launch_block(const Problem<T>& problem, Stream& stream) {
  const std::int64_t cols = problem.cols();
  constexpr std::size_t kScratch = kScratchFloats * sizeof(float);
  const std::size_t row = static_cast<std::size_t>(div_up(cols, Count)) * sizeof(Pack<T, Count>);
  const bool fits = kScratch + 2 * row <= device_properties().shared_bytes_per_block_optin;
  launch(fits ? block_in_shared<kind, T, Count> : block_two_reads<kind, T, Count>,
         {.grid = grid_for(problem.rows()),
          .block = static_cast<unsigned>(block_threads(cols)),
          .shared_bytes = fits ? kScratch + 2 * row : kScratch,
          .stream = &stream},
         problem.y.data, problem.y.stride[0], problem.dy.data, problem.dy.stride[0],
         problem.dx.data, problem.dx.stride[0], cols);
}

template <Kind kind, class T, int Count>
void launch_cluster(const Problem<T>& problem, Stream& stream) {
  const ClusterRow of = cluster_row(problem.cols(), Count, 2 * sizeof(T)); // for y and dy
  const auto blocks = static_cast<unsigned>(of.blocks);
  LaunchConfig config{.grid = grid_for(problem.rows() * of.blocks),
                      .block = static_cast<unsigned>(of.threads),
                      .shared_bytes = kClusterScratch + of.bytes,
                      .stream = &stream,
                      .cluster = {blocks, 1, 1}};
  const auto run = [&](auto kernel, std::int64_t held) {
    launch(kernel, config, problem.y.data, problem.y.stride[0], problem.dy.data,
           problem.dy.stride[0], problem.dx.data, problem.dx.stride[0], problem.cols(), blocks,
           of.slice, held);
  };
  if constexpr (sizeof(T) == sizeof(float)) { // 16-bit y and dy together take as much as f32 y
    const std::size_t most = device_properties().shared_bytes_per_block_optin;
    if (config.shared_bytes > most) {
      const auto room =
          static_cast<std::int64_t>((most - kClusterScratch) / sizeof(Pack<T, Count>));
      config.shared_bytes = most;
      // Whole rounds of the block's threads, each of which also holds its packs of y.
      return run(cluster_per_row<kind, T, Count, false>,
                 (room - of.slice) / of.threads * of.threads);
    }
  }
  run(cluster_per_row<kind, T, Count, true>, of.slice);
}

template <Kind kind, class T>
void launch_variant(const Problem<T>& problem, Variant variant, Stream& stream) {
  const bool aligned = problem.aligned();
  switch (variant) {
  case Variant::automatic: break; // run() has resolved it
  case Variant::naive: launch_naive<kind>(problem, stream); break;
  case Variant::warp:
    if (aligned)
      launch_warp<kind, T, kPackElements<T>>(problem, stream);
    else
      launch_warp<kind, T, 1>(problem, stream);
    break;
  case Variant::block:
    if (aligned)
      launch_block<kind, T, kPackElements<T>>(problem, stream);
    else
      launch_block<kind, T, 1>(problem, stream);
    break;
  case Variant::cluster:
    if (aligned)
      launch_cluster<kind, T, kPackElements<T>>(problem, stream);
    else
      launch_cluster<kind, T, 1>(problem, stream);
    break;
  }
}

} // namespace

bool supports(Variant variant, std::int64_t cols) {
  switch (variant) {
  case Variant::warp: return cols <= kWarpMaxCols;
  case Variant::cluster: return cluster_holds(cols);
  default: return true;
  }
}

Variant resolved(Variant variant, std::int64_t cols) {
  if (variant != Variant::automatic) return variant;
  if (supports(Variant::warp, cols)) return Variant::warp;
  return automatic_takes_cluster(cols) ? Variant::cluster : Variant::block;
}

template <class T>
Variant run(Kind kind, MatrixView<const T> y, MatrixView<const T> dy, MatrixView<T> dx,
            Variant variant, Stream& stream) {
  require_matrix("softmax_backward: y", y);
  require_matrix("softmax_backward: dy", dy);
  require_matrix("softmax_backward: dx", dx);
  require(y.shape == dy.shape && y.shape == dx.shape,
          "softmax_backward: y is " + text(y.shape) + ", dy " + text(dy.shape) + " and dx " +
              text(dx.shape) + "; the shapes must be equal");
  const std::int64_t cols = y.shape[1];
  variant = resolved(variant, cols);
  require(supports(variant, cols),
          variant == Variant::cluster
              ? "softmax_backward: variant cluster does not take rows of " + std::to_string(cols) +
                    " elements here; use automatic"
              : "softmax_backward: variant " + std::string(name(variant)) +
                    " holds rows of at most " + std::to_string(kWarpMaxCols) + " elements, not " +
                    std::to_string(cols) + "; use block");
  if (y.size() == 0) return variant;

  const Problem<T> problem{y, dy, dx};
  switch (kind) {
  case Kind::softmax: launch_variant<Kind::softmax>(problem, variant, stream); break;
  case Kind::log_softmax: launch_variant<Kind::log_softmax>(problem, variant, stream); break;
  }
  return variant;
}

template Variant run(Kind, MatrixView<const float>, MatrixView<const float>, MatrixView<float>,
                     Variant, Stream&);
template Variant run(Kind, MatrixView<const f16>, MatrixView<const f16>, MatrixView<f16>, Variant,
                     Stream&);
template Variant run(Kind, MatrixView<const bf16>, MatrixView<const bf16>, MatrixView<bf16>,
                     Variant, Stream&);

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
  case Variant::block:
    return per_thread(block_threads(cols)) + kButterflySteps + block_threads(cols) / kLanes;
  case Variant::cluster: return cluster_chain(cols);
  }
  return cols;
}

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = 3 * elements * static_cast<double>(size_of(dtype)),
          .written = elements * static_cast<double>(size_of(dtype)),
          .flops = 4 * elements};
}

} // namespace kg::softmax_backward
