// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rows come piece by piece through a ring in the shared memory of a block, or of the blocks
// of a cluster that share a row (chunk_pipeline.h), and by what blocks: rows that no ring of whole
// rows holds (pipeline_config.h).
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

inline constexpr int kPiecePacks = 4; // of a thread
// Of a block; the smaller number for devices with 64 KiB of shared memory to a block.
inline constexpr int kPieceThreads = 512, kFewPieceThreads = 128;
inline constexpr int kPiecesAhead = 2; // places beyond those of a row
inline constexpr int kPieceBlocks = 8; // that a cluster has on every device

// In front of the ring: two numbers of each warp of a cluster, for each of two reductions under
// way, and padding: a pack of it, in bytes that leave the ring aligned as lines of memory are. A
// line that lay across two of shared memory took 6 % of the time.
inline constexpr int kPieceWarps = kPieceBlocks * kPieceThreads / kLanes;
inline constexpr std::size_t kPieceReductions = 4 * kPieceWarps * sizeof(float);
inline constexpr int kPiecePadding = 128;

struct PieceShape {
  int blocks;               // that share a row: more than one are a cluster
  int pieces;               // of a block's part of the row
  int threads;              // of a block
  std::size_t shared_bytes; // of a block
};

// Rows of `cols` elements of so many bytes, in whole packs, which are aligned to 16 bytes.
// shared_bytes is 0 where they cannot come so.
inline PieceShape piece_shape(std::int64_t cols, std::size_t element) {
  const std::int64_t row = cols * static_cast<std::int64_t>(element);
  if (row % kPackBytes != 0) return {};
  const std::size_t most = device_properties().shared_bytes_per_block_optin;
  const int most_blocks = device_has_clusters() ? kPieceBlocks : 1;
  for (const int threads : {kPieceThreads, kFewPieceThreads}) {
    const std::int64_t piece = threads * kPiecePacks * kPackBytes;
    for (int blocks = 1; blocks <= most_blocks; blocks *= 2) {
      const std::int64_t pieces = div_up(row, blocks * piece);
      const std::size_t shared = kPieceReductions + kPiecePadding +
                                 static_cast<std::size_t>((pieces + kPiecesAhead) * piece);
      if (shared <= most) return {blocks, static_cast<int>(pieces), threads, shared};
    }
  }
  return {};
}

// Longest sequential chain of additions in a row's sum, of any type: a thread's elements, those of
// a warp, and of a cluster's warps. 0 where no row comes so.
inline std::int64_t piece_chain(std::int64_t cols) {
  std::int64_t elements = 0;
  for (const int size : {2, 4})
    elements = std::max<std::int64_t>(elements, std::int64_t{piece_shape(cols, size).pieces} *
                                                    kPiecePacks * (kPackBytes / size));
  return elements == 0 ? 0 : elements + 2 * kButterflySteps + kPieceWarps / kLanes;
}

} // namespace kg
