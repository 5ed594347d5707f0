// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Selects the kernel. The lower bound is one read and one write per element and a byte of a boolean
// mask (9 bytes for f32, 5 for f16 and bf16); a causal mask of a square halves the reads.
#include "ops/masked_softmax/masked_softmax.h"

#include "ops/masked_softmax/block_kernel.h"
#include "ops/masked_softmax/persistent_row_kernel.h"
#include "ops/masked_softmax/warp_kernel.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace kg::masked_softmax {

constexpr int kNaiveThreads = 128;

template <Form form, class T>
__global__ void __launch_bounds__(kNaiveThreads) naive(Problem<T> problem) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= problem.rows) return;
  const Row<T> row = problem.template row<form>(index);
  float largest = kMasked; // fmaxf ignores NaN; the sum propagates it
  for (std::int64_t j = 0; j < row.kept; ++j) largest = fmaxf(largest, kept_element<form>(row, j));
  const float reference = reference_of(largest, problem.scale);
  float sum = 0;
  for (std::int64_t j = 0; j < row.kept; ++j)
    sum += exponential(kept_element<form>(row, j), problem.scale, reference);
  const float by = normalizer(sum, largest);
  for (std::int64_t j = 0; j < row.cols; ++j) {
    const float x = kept_element<form>(row, j);
    row.y[j] = from_float<T>(exponential(x, problem.scale, reference) * by);
  }
}

namespace {

// Eight to 32 elements per thread for rows up to 32,768.
constexpr int block_threads(std::int64_t cols) {
  return cols <= 4096 ? 256 : cols <= 16384 ? 512 : kMaxBlockThreads;
}

unsigned grid_for(std::int64_t blocks) {
  return grid_x(blocks, "masked_softmax: the rows", "split the matrix by rows");
}

// Few packs for short rows, otherwise enough to hold kWarpMaxCols elements.
template <Form form, class T, int Count>
void launch_warp(const Problem<T>& problem, Stream& stream) {
  constexpr int kMost = kWarpMaxCols / (Count * kLanes);
  constexpr int kFew = kMost / 4;
  launch(problem.cols <= kFew * Count * kLanes ? warp_per_row<form, T, Count, kFew>
                                               : warp_per_row<form, T, Count, kMost>,
         {.grid = grid_for(div_up(problem.rows, kRowsPerBlock)),
          .block = kRowsPerBlock * kLanes,
          .stream = &stream},
         problem);
}

template <Form form, class T>
void launch_block(const Problem<T>& problem, bool aligned, Stream& stream) {
  constexpr int kCount = kPackElements<T>;
  if (aligned) {
    const RowPipelineShape pipeline = pipeline_shape(form, problem.rows, problem.cols, sizeof(T));
    if (pipeline.shared_bytes > 0)
      return launch(pipeline.stages == 1 ? block_in_ring<form, T, kCount, kSingleStagePacks, 1>
                    : pipeline.is_short ? block_in_ring<form, T, kCount, kShortRowPacks, kRowStages>
                                        : block_in_ring<form, T, kCount, kLongRowPacks, kRowStages>,
                    {.grid = grid_for(pipeline.blocks),
                     .block = static_cast<unsigned>(pipeline.threads),
                     .shared_bytes = pipeline.shared_bytes,
                     .stream = &stream},
                    problem);
  }
  constexpr std::size_t kScratch = kScratchFloats * sizeof(float);
  const std::size_t row = static_cast<std::size_t>(problem.cols) * sizeof(float);
  const bool fits = !aligned && kScratch + row <= device_properties().shared_bytes_per_block_optin;
  launch(fits      ? block_in_shared<form, T>
         : aligned ? block_two_reads<form, T, kCount>
                   : block_two_reads<form, T, 1>,
         {.grid = grid_for(problem.rows),
          .block = static_cast<unsigned>(block_threads(problem.cols)),
          .shared_bytes = fits ? kScratch + row : kScratch,
          .stream = &stream},
         problem);
}

template <Form form, class T>
void launch_variant(const Problem<T>& problem, bool aligned, Variant variant, Stream& stream) {
  constexpr int kPack = kPackElements<T>;
  switch (variant) {
  case Variant::automatic: break; // run() has resolved it
  case Variant::naive:
    launch(naive<form, T>,
           {.grid = grid_for(div_up(problem.rows, kNaiveThreads)),
            .block = kNaiveThreads,
            .stream = &stream},
           problem);
    break;
  case Variant::warp:
    if (aligned)
      launch_warp<form, T, kPack>(problem, stream);
    else
      launch_warp<form, T, 1>(problem, stream);
    break;
  case Variant::block: launch_block<form>(problem, aligned, stream); break;
  }
}

// Whether each row is aligned for packs of `count` bytes.
bool mask_is_aligned(const MatrixView<const std::uint8_t>& keep, int count) {
  const auto multiple = static_cast<std::uintptr_t>(count);
  return reinterpret_cast<std::uintptr_t>(keep.data) % multiple == 0 &&
         (static_cast<std::uintptr_t>(keep.stride[0]) % multiple == 0 || keep.shape[0] == 1);
}

} // namespace

std::string_view name(Form form) { return form == Form::boolean ? "boolean" : "causal"; }

bool supports(Variant variant, std::int64_t cols) {
  return variant != Variant::warp || cols <= kWarpMaxCols;
}

Variant resolved(Variant variant, std::int64_t cols) {
  if (variant != Variant::automatic) return variant;
  return supports(Variant::warp, cols) ? Variant::warp : Variant::block;
}

template <class T>
Variant run(float scale, MatrixView<const T> x, const Mask& mask, MatrixView<T> y, Variant variant,
            Stream& stream) {
  require_matrix("masked_softmax: x", x);
  require_matrix("masked_softmax: y", y);
  require(x.shape == y.shape, "masked_softmax: x is " + text(x.shape) + " and y is " +
                                  text(y.shape) + "; the shapes must be equal");
  require(std::isfinite(scale) && scale > 0, "masked_softmax: scale is " + std::to_string(scale) +
                                                 "; it must be a finite number above 0");
  const std::int64_t rows = x.shape[0];
  const std::int64_t cols = x.shape[1];
  if (mask.form == Form::boolean) {
    require_matrix("masked_softmax: the mask", mask.keep);
    require(x.shape == mask.keep.shape, "masked_softmax: x is " + text(x.shape) +
                                            " and the mask is " + text(mask.keep.shape) +
                                            "; the shapes must be equal");
  } else {
    require(mask.queries > 0 && rows % mask.queries == 0,
            "masked_softmax: queries is " + std::to_string(mask.queries) + " for " +
                std::to_string(rows) + " rows; the rows must be whole sequences of 1 or more");
  }
  variant = resolved(variant, cols);
  require(supports(variant, cols), "masked_softmax: variant " + std::string(name(variant)) +
                                       " holds rows of at most " + std::to_string(kWarpMaxCols) +
                                       " elements, not " + std::to_string(cols) + "; use block");
  if (x.size() == 0) return variant;

  const Divisor queries = mask.form == Form::causal ? Divisor(mask.queries) : Divisor();
  const Problem<T> problem{x.data,  x.stride[0], mask.keep.data, mask.keep.stride[0],
                           y.data,  y.stride[0], rows,           cols,
                           queries, scale};
  const bool aligned = rows_are_aligned(x) && rows_are_aligned(y);
  if (mask.form == Form::boolean)
    launch_variant<Form::boolean>(problem, aligned && mask_is_aligned(mask.keep, kPackElements<T>),
                                  variant, stream);
  else
    launch_variant<Form::causal>(problem, aligned, variant, stream);
  return variant;
}

template Variant run(float, MatrixView<const float>, const Mask&, MatrixView<float>, Variant,
                     Stream&);
template Variant run(float, MatrixView<const f16>, const Mask&, MatrixView<f16>, Variant, Stream&);
template Variant run(float, MatrixView<const bf16>, const Mask&, MatrixView<bf16>, Variant,
                     Stream&);

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
  case Variant::block: // the longer of the paths for aligned and other rows
    return std::max(kRowPipelineChain, per_thread(block_threads(cols)) + kButterflySteps +
                                           block_threads(cols) / kLanes);
  }
  return cols;
}

Work work(Dtype dtype, std::int64_t rows, std::int64_t cols, std::int64_t queries) {
  const double elements = static_cast<double>(rows) * static_cast<double>(cols);
  const auto width = static_cast<double>(size_of(dtype));
  if (queries == 0)
    return {
        .bytes = (2 * width + 1) * elements, .written = width * elements, .flops = 5 * elements};
  std::int64_t seen = 0; // of one sequence
  for (std::int64_t i = 0; i < queries; ++i)
    seen += std::max<std::int64_t>(i + cols - queries + 1, 0);
  const double read = static_cast<double>(rows / queries) * static_cast<double>(seen);
  return {.bytes = (read + elements) * width, .written = elements * width, .flops = 5 * read};
}

} // namespace kg::masked_softmax
