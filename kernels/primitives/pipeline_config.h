// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Configuration of row_pipeline.h: which rows it takes, in two stages or one, and with how many
// threads.
//
// With two stages a thread holds at most 8 packs of a row in registers, 4 if the row exceeds 16
// KiB. Few warps with much work each lose least to the reductions, and with 4 packs 1024 threads
// hold a row of 64 KiB. With one stage a thread holds 8 packs in 64 registers, so 1024 threads hold
// a row of 128 KiB, and shared memory has room for the next row only.
#pragma once

#include "primitives/block.h"
#include "primitives/pack.h"
#include "runtime/device.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg {

inline constexpr int kRowStages = 2;
inline constexpr int kShortRowPacks = 8, kLongRowPacks = 4; // per thread, at most
inline constexpr int kShortRowThreads = 128;
inline constexpr int kSingleStagePacks = 8; // per thread, with one stage
inline constexpr std::int64_t kShortRowBytes = 16 * 1024, kLongRowBytes = 64 * 1024; // per row
inline constexpr std::int64_t kSingleStageRowBytes = 128 * 1024;
static_assert(kSingleStageRowBytes == kSingleStagePacks * kMaxBlockThreads * kPackBytes);
static_assert(kShortRowBytes == kShortRowPacks * kShortRowThreads * kPackBytes);
static_assert(kLongRowBytes == kLongRowPacks * kMaxBlockThreads * kPackBytes);

// For __launch_bounds__ of a kernel with `packs` packs per thread: the largest block, and how many
// such blocks fit a multiprocessor with 128 or 64 registers per thread.
constexpr int row_pipeline_threads(int packs) {
  return packs == kShortRowPacks ? kShortRowThreads : kMaxBlockThreads;
}
constexpr int row_pipeline_blocks(int packs) { return packs == kShortRowPacks ? 4 : 1; }

// Precedes the stages: two numbers per warp for each of two reductions in flight.
inline constexpr std::size_t kRowPipelineScratch = 4 * kMaxWarps * sizeof(float);

struct RowPipelineShape {
  int stages;
  bool is_short; // two stages with kShortRowPacks packs per thread
  int threads;
  std::size_t shared_bytes; // scratch, stages and the kernel's own bytes
  std::int64_t blocks;      // grid size: as many blocks as are resident at once
};

// Bytes of a row, rounded up to whole packs.
constexpr std::int64_t padded_row_bytes(std::int64_t cols, std::size_t element) {
  return div_up(cols * static_cast<std::int64_t>(element), kPackBytes) * kPackBytes;
}

// Packs per thread for such a row, and the number of threads, rounded up to whole warps.
constexpr int packs_per_thread(std::int64_t cols, std::size_t element) {
  return padded_row_bytes(cols, element) <= kShortRowBytes ? kShortRowPacks : kLongRowPacks;
}
constexpr std::int64_t threads_per_row(std::int64_t cols, std::size_t element) {
  const std::int64_t packs = padded_row_bytes(cols, element) / kPackBytes;
  return div_up(div_up(packs, packs_per_thread(cols, element)), kLanes) * kLanes;
}

// Bytes of one stage: all packs of all threads.
constexpr std::int64_t stage_bytes(std::int64_t cols, std::size_t element) {
  return threads_per_row(cols, element) * packs_per_thread(cols, element) * kPackBytes;
}

// Two stages for rows of `cols` elements of `element` bytes, aligned to 16 bytes, if the block
// needs `more` bytes of shared memory of its own. shared_bytes is 0 if such rows are not supported.
inline RowPipelineShape row_pipeline_shape(std::int64_t rows, std::int64_t cols,
                                           std::size_t element, std::int64_t more = 0) {
  const DeviceProperties& device = device_properties();
  if (padded_row_bytes(cols, element) > kLongRowBytes) return {};
  RowPipelineShape result{};
  result.stages = kRowStages;
  const int packs = packs_per_thread(cols, element);
  result.is_short = packs == kShortRowPacks;
  result.threads = static_cast<int>(threads_per_row(cols, element));
  result.shared_bytes = kRowPipelineScratch +
                        static_cast<std::size_t>(kRowStages * stage_bytes(cols, element) + more);
  if (result.shared_bytes > device.shared_bytes_per_block_optin) return {};
  constexpr std::size_t kReserved = 1024; // per block, by the system (CUDA programming guide)
  const int of_registers =
      row_pipeline_threads(packs) * row_pipeline_blocks(packs) / result.threads;
  const auto of_memory =
      static_cast<int>(device.shared_bytes_per_sm / (result.shared_bytes + kReserved));
  result.blocks = std::min<std::int64_t>(rows, std::int64_t{device.sm_count} *
                                                   std::max(1, std::min(of_registers, of_memory)));
  return result;
}

constexpr std::int64_t single_stage_threads(std::int64_t cols, std::size_t element) {
  const std::int64_t packs = padded_row_bytes(cols, element) / kPackBytes;
  return div_up(div_up(packs, kSingleStagePacks), kLanes) * kLanes;
}
constexpr std::int64_t single_stage_bytes(std::int64_t cols, std::size_t element) {
  return single_stage_threads(cols, element) * kSingleStagePacks * kPackBytes;
}

// The same with one stage and one block per multiprocessor.
inline RowPipelineShape single_stage_shape(std::int64_t rows, std::int64_t cols,
                                           std::size_t element, std::int64_t more = 0) {
  const DeviceProperties& device = device_properties();
  if (padded_row_bytes(cols, element) > kSingleStageRowBytes) return {};
  RowPipelineShape result{};
  result.stages = 1;
  result.threads = static_cast<int>(single_stage_threads(cols, element));
  result.shared_bytes =
      kRowPipelineScratch + static_cast<std::size_t>(single_stage_bytes(cols, element) + more);
  if (result.shared_bytes > device.shared_bytes_per_block_optin) return {};
  result.blocks = std::min<std::int64_t>(rows, device.sm_count);
  return result;
}

// The longest sequential chain of additions in a row's sum: a thread's elements (of the widest
// packs), then the lanes of a warp, then the warps of a block.
constexpr std::int64_t kRowPipelineChain = kShortRowPacks * 8 + 2 * kButterflySteps;

} // namespace kg
