// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Configuration of chunk_pipeline.h: which rows it takes, and the blocks that process them. It is
// for rows too long for row_pipeline.h. One block, or a cluster of blocks, shares a row.
#pragma once

#include "primitives/pack.h"
#include "primitives/pipeline_config.h"
#include "runtime/clusters.h"
#include "runtime/device.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg {

inline constexpr int kChunkPacks = 4; // per thread
// Per block; the smaller number is for devices with 64 KiB of shared memory per block.
inline constexpr int kChunkThreads = 512, kFewChunkThreads = 128;
inline constexpr int kPrefetchedChunks = 2; // slots beyond those of a row
inline constexpr int kChunkBlocks = 8;      // the largest cluster that every device supports

// Before the buffer: two mbarriers, and two numbers per warp of a cluster for each of two
// reductions in flight (cluster_exchange.h), then one pack of padding. Each is extended to align
// the buffer to 128 bytes. Without that alignment a kernel took 6 % longer.
inline constexpr int kChunkPadding = 128;
inline constexpr int kChunkWarps = kChunkBlocks * kChunkThreads / kLanes;
inline constexpr std::size_t kChunkScratch = kChunkPadding + 4 * kChunkWarps * sizeof(float);

struct ChunkShape {
  int blocks;               // per row; more than one form a cluster
  int chunks;               // per block's part of a row
  int threads;              // per block
  std::size_t shared_bytes; // per block
};

// For rows of `cols` elements of `element` bytes, aligned to 16 bytes and made of whole packs.
// shared_bytes is 0 if the pipeline does not support such rows.
inline ChunkShape chunk_shape(std::int64_t cols, std::size_t element) {
  const std::int64_t row = cols * static_cast<std::int64_t>(element);
  if (row % kPackBytes != 0) return {};
  const std::size_t most = device_properties().shared_bytes_per_block_optin;
  const int most_blocks = device_has_clusters() ? kChunkBlocks : 1;
  for (const int threads : {kChunkThreads, kFewChunkThreads}) {
    const std::int64_t chunk = threads * kChunkPacks * kPackBytes;
    for (int blocks = 1; blocks <= most_blocks; blocks *= 2) {
      const std::int64_t chunks = div_up(row, blocks * chunk);
      const std::size_t shared = kChunkScratch + kChunkPadding +
                                 static_cast<std::size_t>((chunks + kPrefetchedChunks) * chunk);
      if (shared <= most) return {blocks, static_cast<int>(chunks), threads, shared};
    }
  }
  return {};
}

// The longest sequential chain of additions in a row's sum, over all types: a thread's elements,
// then the lanes of a warp, then the warps of a cluster. 0 if no type takes this path.
inline std::int64_t chunk_chain(std::int64_t cols) {
  std::int64_t elements = 0;
  for (const int size : {2, 4})
    elements = std::max<std::int64_t>(elements, std::int64_t{chunk_shape(cols, size).chunks} *
                                                    kChunkPacks * (kPackBytes / size));
  return elements == 0 ? 0 : elements + 2 * kButterflySteps + kChunkWarps / kLanes;
}

} // namespace kg
