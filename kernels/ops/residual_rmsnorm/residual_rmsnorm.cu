// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernels of rmsnorm (ops/normalization/forward_kernels.h), with a row that is first added.
//
// Theoretical minimum: two reads and two writes per element, 16 bytes in f32 and 8 in f16 and bf16.
// An addition followed by rmsnorm moves 20 and 10 bytes, since the sum passes through memory once
// more, and needs a second launch. Expected on an H200: at least rmsnorm's 90 % of copy bandwidth,
// with twice the bytes in flight per thread. z is rounded before normalization because the next
// block reads the rounded sum; the results thus equal those of the two operations.
#include "ops/residual_rmsnorm/residual_rmsnorm.h"

#include "ops/normalization/forward.h"

#include <string>

namespace kg::residual_rmsnorm {

using normalization::BlockSum;
using normalization::Forward;
using normalization::HeldPart;
using normalization::Kind;
using normalization::kNaiveThreads;
using normalization::kRowsPerBlock;
using normalization::normalize;
using normalization::RereadPart;

// norm.x is x.
template <class T>
struct Problem {
  Forward<T> norm;
  const T* residual;
  std::int64_t residual_stride;
  T* z;
  std::int64_t z_stride;
};

// Part: storage of a thread's share of the row; sum(value) reduces over the row's threads.
template <class Part, class T, class Sum>
__device__ void add_and_normalize(const Problem<T>& f, std::int64_t row, int thread, int threads,
                                  Sum sum) {
  Part part(f.norm.x + row * f.norm.x_stride, f.norm.cols, thread, threads);
  part.add(f.residual + row * f.residual_stride, f.z + row * f.z_stride);
  normalize<Kind::rms>(f.norm, row, part, thread == 0, sum);
}

template <class T>
__global__ void __launch_bounds__(kNaiveThreads) naive(Problem<T> f) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= f.norm.rows) return;
  add_and_normalize<RereadPart<T, 1>>(f, row, 0, 1, [](float value) { return value; });
}

// Requests one resident block only, so that a row gets the registers it needs; otherwise the
// compiler spills one to fit another block (CUDA 13, sm_80).
template <class T, int Count, int Packs>
__global__ void __launch_bounds__(kRowsPerBlock* kLanes, 1) warp_per_row(Problem<T> f) {
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kLanes;
  if (row >= f.norm.rows) return; // a whole warp
  add_and_normalize<HeldPart<T, Count, Packs>>(f, row, static_cast<int>(threadIdx.x) % kLanes,
                                               kLanes, [](float value) { return warp_sum(value); });
}

template <class Part, class T>
__device__ void block_per_row(const Problem<T>& f) {
  __shared__ float scratch[kMaxWarps];
  add_and_normalize<Part>(f, blockIdx.x, static_cast<int>(threadIdx.x),
                          static_cast<int>(blockDim.x), BlockSum(scratch));
}

template <class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads) block_in_registers(Problem<T> f) {
  block_per_row<HeldPart<T, Count, normalization::kBlockHeld / Count>>(f);
}

template <class T, int Count>
__global__ void __launch_bounds__(kMaxBlockThreads) block_rereading(Problem<T> f) {
  block_per_row<RereadPart<T, Count>>(f);
}

namespace {

template <class T>
struct Kernels {
  using Element = T;
  using Problem = residual_rmsnorm::Problem<T>;

  static void naive(const Problem& f, const LaunchConfig& config) {
    launch(residual_rmsnorm::naive<T>, config, f);
  }
  template <int Count, int Packs>
  static void warp(const Problem& f, const LaunchConfig& config) {
    launch(warp_per_row<T, Count, Packs>, config, f);
  }
  template <int Count>
  static void in_registers(const Problem& f, const LaunchConfig& config) {
    launch(block_in_registers<T, Count>, config, f);
  }
  template <int Count>
  static void rereading(const Problem& f, const LaunchConfig& config) {
    launch(block_rereading<T, Count>, config, f);
  }
};

} // namespace

template <class T>
Variant run(const Matrices<T>& matrices, const T* gamma, float epsilon, float* rstd,
            Variant variant, Stream& stream) {
  const auto& [x, residual, z, y] = matrices;
  const std::string op = "residual_rmsnorm";
  variant = normalization::checked_variant<T>(op, x, y, epsilon, variant);
  require_matrix(op + ": residual", residual);
  require_matrix(op + ": z", z);
  require(residual.shape == x.shape && z.shape == x.shape,
          op + ": x is " + text(x.shape) + ", residual " + text(residual.shape) + " and z " +
              text(z.shape) + "; the shapes must be equal");
  if (x.size() == 0) return variant;
  require(z.data != y.data, op + ": z and y are at one place; give each memory of its own");

  const std::int64_t rows = x.shape[0];
  const std::int64_t cols = x.shape[1];
  const Forward<T> norm{x.data,      x.stride[0], gamma, nullptr, epsilon, y.data,
                        y.stride[0], nullptr,     rstd,  rows,    cols};
  const bool aligned = rows_are_aligned(x) && rows_are_aligned(residual) && rows_are_aligned(z) &&
                       rows_are_aligned(y) && is_aligned(gamma);
  normalization::launch_variant<Kernels<T>>(
      op, {norm, residual.data, residual.stride[0], z.data, z.stride[0]}, rows, cols, aligned,
      variant, stream);
  return variant;
}

template Variant run(const Matrices<float>&, const float*, float, float*, Variant, Stream&);
template Variant run(const Matrices<f16>&, const f16*, float, float*, Variant, Stream&);
template Variant run(const Matrices<bf16>&, const bf16*, float, float*, Variant, Stream&);

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  return {.bytes = (4 * elements + static_cast<double>(cols)) * static_cast<double>(size_of(dtype)),
          .written = 2 * elements * static_cast<double>(size_of(dtype)),
          .flops = 5 * elements};
}

} // namespace kg::residual_rmsnorm
