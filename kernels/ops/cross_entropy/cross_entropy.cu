// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read per logit (4 bytes in f32, 2 in 16 bits) and 12 bytes per row; about ten instructions
// per logit. Expected on an H200, with at least as many rows as multiprocessors: 92 % of the
// bandwidth of a sum over the rows, which also only reads.
//
// Why not log_softmax and a lookup: that writes a second matrix as large as the logits, which for
// 128256 classes are 31 times as large as hidden states of 4096. Why not the row in shared memory,
// as in softmax: no element is needed twice, since the sum is rescaled as the maximum rises. Why
// not several blocks per row: a batch has thousands of tokens, and a second launch would have to
// merge their sums.
#include "ops/cross_entropy/cross_entropy.h"

#include "ops/cross_entropy/row_sums.h"
#include "primitives/block.h"
#include "runtime/dtype.h"
#include "runtime/launch.h"

#include <algorithm>

namespace kg::cross_entropy {

constexpr int kNaiveThreads = 128;
// Length of the partial sums of naive. One sequential sum of 128256 bf16 logits, which have only a
// few hundred distinct values, would accumulate equal rounding errors.
constexpr std::int64_t kNaiveChain = 1024;
constexpr int kRowsPerBlock = 4; // of warp_per_row
// With blocks of 512 threads, two are resident: one loads while the other adds.
constexpr int kMostThreads = 512;

template <class T>
struct Arguments {
  Problem<T> problem;
  float weight_of_each; // see objective.h

  __device__ const T* row(std::int64_t i) const {
    return problem.logits + i * problem.logits_stride;
  }
  __device__ bool smoothed() const { return weight_of_each > 0; }

  __device__ void store(std::int64_t row, float loss, float log_sum) const {
    problem.loss[row] = loss;
    if (problem.log_sum != nullptr) problem.log_sum[row] = log_sum;
  }

  // Computes the results from a row's sums. Differences come first: a sum of the logits themselves
  // would have rounding errors relative to their size.
  __device__ void finish(std::int64_t row, float at_target, const RowSums& sums) const {
    const float log_of_sum = logf(sums.sum);
    const float log_sum = sums.maximum + log_of_sum;
    float loss = log_of_sum + (sums.maximum - at_target);
    if (smoothed()) loss = fmaf(-weight_of_each, sums.differences, loss);
    store(row, fmaf(problem.objective.z_loss * log_sum, log_sum, loss), log_sum);
  }
};

template <class T>
__global__ void __launch_bounds__(kNaiveThreads) naive(Arguments<T> a) {
  const Problem<T>& p = a.problem;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= p.rows) return;
  const std::int64_t target = class_of(p.objective, row, p.classes);
  if (target == kIgnored) return a.store(row, 0, 0);
  const T* const x = a.row(row);
  const float at_target = to_float(x[target]), origin = origin_of(at_target);
  RowSums sums;
  for (std::int64_t j = 0; j < p.classes; ++j) sums.maximum = fmaxf(sums.maximum, to_float(x[j]));
  for (std::int64_t first = 0; first < p.classes; first += kNaiveChain) {
    const std::int64_t end = first + kNaiveChain < p.classes ? first + kNaiveChain : p.classes;
    float sum = 0, differences = 0;
    for (std::int64_t j = first; j < end; ++j) {
      sum += exponential(to_float(x[j]) - sums.maximum);
      if (a.smoothed()) differences += to_float(x[j]) - origin;
    }
    sums.sum += sum;
    sums.differences += differences;
  }
  a.finish(row, at_target, sums);
}

template <class T>
__global__ void __launch_bounds__(kRowsPerBlock* kLanes) warp_per_row(Arguments<T> a) {
  const Problem<T>& p = a.problem;
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / kLanes;
  if (row >= p.rows) return; // the whole warp
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t target = class_of(p.objective, row, p.classes);
  if (target == kIgnored) {
    if (lane == 0) a.store(row, 0, 0);
    return;
  }
  const T* const x = a.row(row);
  const float at_target = to_float(x[target]);
  RowSums sums = sums_of_part(x, p.classes, a.smoothed(), origin_of(at_target), lane, kLanes);
  sums.raise(warp_max(sums.maximum));
  sums.sum = warp_sum(sums.sum);
  if (a.smoothed()) sums.differences = warp_sum(sums.differences);
  if (lane == 0) a.finish(row, at_target, sums);
}

template <class T>
__global__ void __launch_bounds__(kMostThreads, 2) block_per_row(Arguments<T> a) {
  __shared__ float scratch[3][kMostThreads / kLanes];
  const Problem<T>& p = a.problem;
  const std::int64_t row = blockIdx.x;
  const std::int64_t target = class_of(p.objective, row, p.classes);
  if (target == kIgnored) {
    if (threadIdx.x == 0) a.store(row, 0, 0);
    return;
  }
  const T* const x = a.row(row);
  const float at_target = to_float(x[target]);
  RowSums sums = sums_of_part(x, p.classes, a.smoothed(), origin_of(at_target),
                              static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
  sums.raise(block_max(sums.maximum, scratch[0]));
  sums.sum = block_sum(sums.sum, scratch[1]);
  if (a.smoothed()) sums.differences = block_sum(sums.differences, scratch[2]);
  if (threadIdx.x == 0) a.finish(row, at_target, sums);
}

namespace {

// At least kLoads packs per thread for rows that a warp does not take.
constexpr int block_threads(std::int64_t classes) { return classes <= 16384 ? 256 : kMostThreads; }

template <class T>
void launch_variant(const Problem<T>& p, Variant variant, Stream& stream) {
  const Arguments<T> arguments{p, static_cast<float>(weight_of_each(p.objective, p.classes))};
  const auto launch_blocks = [&](auto kernel, std::int64_t blocks, int threads) {
    launch(kernel,
           {.grid = grid_x(blocks, "cross_entropy: the rows", "split the matrix by rows"),
            .block = static_cast<unsigned>(threads),
            .stream = &stream},
           arguments);
  };
  switch (variant) {
  case Variant::automatic: break; // run() has resolved it
  case Variant::naive: launch_blocks(naive<T>, div_up(p.rows, kNaiveThreads), kNaiveThreads); break;
  case Variant::warp:
    launch_blocks(warp_per_row<T>, div_up(p.rows, kRowsPerBlock), kRowsPerBlock * kLanes);
    break;
  case Variant::block: launch_blocks(block_per_row<T>, p.rows, block_threads(p.classes)); break;
  }
}

template <class T>
void require_valid(const Problem<T>& p) {
  require_valid("cross_entropy", p.objective, p.rows, p.classes);
  require(p.logits_stride >= p.classes, "cross_entropy: logits_stride is " +
                                            std::to_string(p.logits_stride) + " and classes " +
                                            std::to_string(p.classes) + "; rows must not overlap");
  require_elements("cross_entropy: logits", p.logits, p.rows * p.classes);
  require_elements("cross_entropy: loss", p.loss, p.rows);
  if (p.rows == 0) return;
  constexpr std::int64_t kLogit = sizeof(T), kResult = sizeof(float);
  const RowsInMemory logits{p.logits, p.rows, p.classes * kLogit, p.logits_stride * kLogit};
  const std::int64_t of_targets = p.rows * p.objective.target.bytes_each();
  const std::int64_t of_result = p.rows * kResult;
  const auto require_alone = [&](const std::string& output, const float* data) {
    require_apart("cross_entropy: " + output, data, of_result, "logits", logits);
    require_apart("cross_entropy: target", p.objective.target.data(), of_targets, output, data,
                  of_result);
  };
  require_alone("loss", p.loss);
  if (p.log_sum == nullptr) return;
  require_alone("log_sum", p.log_sum);
  require_apart("cross_entropy: loss", p.loss, of_result, "log_sum", p.log_sum, of_result);
}

} // namespace

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant, p.classes);
  if (p.rows > 0) launch_variant(p, variant, stream);
  return variant;
}

// A thread's single element and its packs, counted for packs of 8, the widest; five butterfly
// steps; then the warps.
std::int64_t chain(Variant variant, std::int64_t classes) {
  constexpr int kWidest = 8;
  const auto per_thread = [classes](int threads) {
    return 1 + div_up(div_up(classes, kWidest), threads) * kWidest;
  };
  switch (variant) {
  case Variant::automatic: return chain(resolved(variant, classes), classes);
  case Variant::naive: return std::min(classes, kNaiveChain) + div_up(classes, kNaiveChain);
  case Variant::warp: return per_thread(kLanes) + kButterflySteps;
  case Variant::block: {
    const int threads = block_threads(classes);
    return per_thread(threads) + kButterflySteps + threads / kLanes;
  }
  }
  return classes;
}

template <class T>
Work work(const Problem<T>& p) {
  const auto rows = static_cast<double>(p.rows);
  const double logits = rows * static_cast<double>(p.classes);
  const double written = rows * sizeof(float) * (p.log_sum == nullptr ? 1 : 2);
  return {.bytes = logits * sizeof(T) +
                   rows * static_cast<double>(p.objective.target.bytes_each()) + written,
          .written = written,
          .flops = logits * (p.objective.label_smoothing > 0 ? 6 : 4)};
}

template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::cross_entropy
