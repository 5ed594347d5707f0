// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rows come through a ring of two places, or of one, in a block's shared memory
// (row_pipeline.h), and by what blocks.
//
// Of two places a thread has at most 8 packs of a row in registers, of rows of more than 16 KiB 4:
// few warps with much to do each lose least to a row's reductions, and few registers let 1024
// threads have a row of 64 KiB. Of one place a thread has 8 packs of 64 registers, so that 1024
// threads have a row of 128 KiB, while shared memory has room for the next one alone.
#pragma once

#include "primitives/block.h"
#include "primitives/pack.h"
#include "runtime/device.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg {

inline constexpr int kRingPlaces = 2;
inline constexpr int kShortRingPacks = 8, kLongRingPacks = 4; // of a thread, at most
inline constexpr int kShortRingThreads = 128;
inline constexpr int kSingleRingPacks = 8; // of a ring of one place
inline constexpr std::int64_t kShortRingBytes = 16 * 1024, kLongRingBytes = 64 * 1024; // of a row
inline constexpr std::int64_t kSingleRingBytes = 128 * 1024;
static_assert(kSingleRingBytes == kSingleRingPacks * kMaxBlockThreads * kPackBytes);
static_assert(kShortRingBytes == kShortRingPacks * kShortRingThreads * kPackBytes);
static_assert(kLongRingBytes == kLongRingPacks * kMaxBlockThreads * kPackBytes);

// For __launch_bounds__ of a kernel whose threads have so many packs: the most threads of a block,
// and how many such blocks a multiprocessor has registers for, 128 or 64 a thread.
constexpr int ring_threads(int packs) {
  return packs == kShortRingPacks ? kShortRingThreads : kMaxBlockThreads;
}
constexpr int ring_blocks(int packs) { return packs == kShortRingPacks ? 4 : 1; }

// In front of the ring: two numbers of each warp, for each of two reductions under way.
inline constexpr std::size_t kRingScratch = 4 * kMaxWarps * sizeof(float);

struct RowRingShape {
  int places;
  bool is_short; // of two places: kShortRingPacks of a thread
  int threads;
  std::size_t shared_bytes; // scratch, ring and what is kept beside it
  std::int64_t blocks;      // of the grid: as many as are resident at once
};

// Bytes of a row in whole packs.
constexpr std::int64_t ring_row_bytes(std::int64_t cols, std::size_t element) {
  return div_up(cols * static_cast<std::int64_t>(element), kPackBytes) * kPackBytes;
}

// How many packs a thread has of such a row, and how many threads it takes, in whole warps.
constexpr int ring_packs(std::int64_t cols, std::size_t element) {
  return ring_row_bytes(cols, element) <= kShortRingBytes ? kShortRingPacks : kLongRingPacks;
}
constexpr std::int64_t threads_of_ring(std::int64_t cols, std::size_t element) {
  const std::int64_t packs = ring_row_bytes(cols, element) / kPackBytes;
  return div_up(div_up(packs, ring_packs(cols, element)), kLanes) * kLanes;
}

// Bytes of one place: all packs of all threads.
constexpr std::int64_t ring_place_bytes(std::int64_t cols, std::size_t element) {
  return threads_of_ring(cols, element) * ring_packs(cols, element) * kPackBytes;
}

// How rows of `cols` elements of so many bytes come, which are aligned to 16 bytes, beside `more`
// bytes that a block keeps. shared_bytes is 0 where they cannot.
inline RowRingShape row_ring_shape(std::int64_t rows, std::int64_t cols, std::size_t element,
                                   std::int64_t more = 0) {
  const DeviceProperties& device = device_properties();
  if (ring_row_bytes(cols, element) > kLongRingBytes) return {};
  RowRingShape result{};
  result.places = kRingPlaces;
  const int packs = ring_packs(cols, element);
  result.is_short = packs == kShortRingPacks;
  result.threads = static_cast<int>(threads_of_ring(cols, element));
  result.shared_bytes =
      kRingScratch + static_cast<std::size_t>(kRingPlaces * ring_place_bytes(cols, element) + more);
  if (result.shared_bytes > device.shared_bytes_per_block_optin) return {};
  constexpr std::size_t kReserved = 1024; // of each block, by the system (CUDA programming guide)
  const int of_registers = ring_threads(packs) * ring_blocks(packs) / result.threads;
  const auto of_memory =
      static_cast<int>(device.shared_bytes_per_sm / (result.shared_bytes + kReserved));
  result.blocks = std::min<std::int64_t>(rows, std::int64_t{device.sm_count} *
                                                   std::max(1, std::min(of_registers, of_memory)));
  return result;
}

constexpr std::int64_t threads_of_single_ring(std::int64_t cols, std::size_t element) {
  const std::int64_t packs = ring_row_bytes(cols, element) / kPackBytes;
  return div_up(div_up(packs, kSingleRingPacks), kLanes) * kLanes;
}
constexpr std::int64_t single_ring_place_bytes(std::int64_t cols, std::size_t element) {
  return threads_of_single_ring(cols, element) * kSingleRingPacks * kPackBytes;
}

// The same of a ring of one place, with one block to a multiprocessor.
inline RowRingShape single_ring_shape(std::int64_t rows, std::int64_t cols, std::size_t element,
                                      std::int64_t more = 0) {
  const DeviceProperties& device = device_properties();
  if (ring_row_bytes(cols, element) > kSingleRingBytes) return {};
  RowRingShape result{};
  result.places = 1;
  result.threads = static_cast<int>(threads_of_single_ring(cols, element));
  result.shared_bytes =
      kRingScratch + static_cast<std::size_t>(single_ring_place_bytes(cols, element) + more);
  if (result.shared_bytes > device.shared_bytes_per_block_optin) return {};
  result.blocks = std::min<std::int64_t>(rows, device.sm_count);
  return result;
}

// Longest sequential chain of additions in a row's sum: a thread's elements, counted for the widest
// packs, those of a warp, and of a block.
constexpr std::int64_t kRingChain = kShortRingPacks * 8 + 2 * kButterflySteps;

} // namespace kg
