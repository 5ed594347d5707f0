// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The division of a long row among the blocks of a cluster (cluster_row.h), and which rows qualify.
//
// A slice of up to 32 KiB is loaded at once, four packs per thread. As many blocks as the registers
// permit share a multiprocessor, so that loads of one row overlap arithmetic of another. Rows
// beyond 8 such slices have longer ones, since 8 blocks is the largest portable cluster.
#pragma once

#include "primitives/block.h"
#include "primitives/pack.h"
#include "runtime/clusters.h"
#include "runtime/device.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg {

// Rows below kClusterMinCols are not worth a cluster. `automatic` uses one from
// kAutomaticClusterCols on, where a single block would occupy a whole multiprocessor.
inline constexpr std::int64_t kClusterMinCols = 4096;
inline constexpr std::int64_t kAutomaticClusterCols = 16384;
inline constexpr int kClusterBlocks = 8; // at most
inline constexpr int kClusterThreads = 1024;

// Floats before a slice, for two reductions: one of each per warp, then the block's two.
inline constexpr int kClusterScratchFloats = 2 * kMaxWarps + kPackElements<float>;
inline constexpr std::size_t kClusterScratch = kClusterScratchFloats * sizeof(float);

// The division of a row. `element`: bytes per column of all vectors that a block holds.
struct ClusterRow {
  int blocks;
  std::int64_t slice; // packs per block
  int threads;
  std::size_t bytes; // shared memory of a slice
};

constexpr ClusterRow cluster_row(std::int64_t cols, int count, std::size_t element) {
  constexpr std::int64_t kSliceBytes = 32 * 1024;
  const std::int64_t pack = count * static_cast<std::int64_t>(element);
  const std::int64_t packs = div_up(cols, count);
  int blocks = 2;
  while (blocks < kClusterBlocks && packs * pack > blocks * kSliceBytes) blocks *= 2;
  const std::int64_t slice = div_up(packs, blocks);
  int threads = 128;
  while (threads < kClusterThreads && threads * 4 < slice) threads *= 2;
  return {blocks, slice, threads, static_cast<std::size_t>(slice * pack)};
}

// Whether a cluster can hold rows of this length: one vector of f32, or two of 16 bits.
inline bool cluster_holds(std::int64_t cols) {
  return cols >= kClusterMinCols && device_has_clusters() &&
         kClusterScratch + cluster_row(cols, 1, sizeof(float)).bytes + 2 * kPackBytes <=
             device_properties().shared_bytes_per_block_optin;
}

inline bool automatic_takes_cluster(std::int64_t cols) {
  return cols >= kAutomaticClusterCols && cluster_holds(cols);
}

// The longest sequential chain of additions in a row's sum: a thread's elements, then the lanes of
// a warp, the warps of a block and the blocks of the cluster.
constexpr std::int64_t cluster_chain(std::int64_t cols) {
  std::int64_t own = 0;
  for (const int count : {1, 4, 8}) {
    const ClusterRow of = cluster_row(cols, count, count == 8 ? 2 : 4);
    own = std::max(own, div_up(of.slice, of.threads) * count);
  }
  return own + kButterflySteps + kClusterThreads / kLanes + kButterflySteps;
}

} // namespace kg
