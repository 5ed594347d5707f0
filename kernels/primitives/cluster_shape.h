// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How a long row is cut among the blocks of a cluster, and which rows are (cluster_row.h).
//
// A slice of 32 KiB or less is loaded at once, four packs a thread, and as many blocks as the
// registers permit share a multiprocessor, so that one row's loads overlap another's arithmetic.
// Rows beyond 8 such slices have longer ones; 8 blocks are what a cluster has on every device.
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

// Below it no row is worth a cluster; `automatic` takes one where a block of 1024 threads, which
// has a multiprocessor to itself, would hold the row at best.
inline constexpr std::int64_t kClusterMinCols = 4096;
inline constexpr std::int64_t kAutomaticClusterCols = 16384;
inline constexpr int kClusterBlocks = 8; // at most
inline constexpr int kClusterThreads = 1024;

// Floats in front of a slice, for two reductions: one of each per warp, then the block's two.
inline constexpr int kClusterScratchFloats = 2 * kMaxWarps + kPackElements<float>;
inline constexpr std::size_t kClusterScratch = kClusterScratchFloats * sizeof(float);

// How a row is cut whose elements are so many bytes: those of all vectors that a block holds.
struct ClusterRow {
  int blocks;
  std::int64_t slice; // packs of a block
  int threads;
  std::size_t bytes; // of shared memory that hold a slice
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

// Whether clusters can do rows of this length: hold one vector of f32, or two of 16 bits.
inline bool cluster_holds(std::int64_t cols) {
  return cols >= kClusterMinCols && device_has_clusters() &&
         kClusterScratch + cluster_row(cols, 1, sizeof(float)).bytes + 2 * kPackBytes <=
             device_properties().shared_bytes_per_block_optin;
}

inline bool automatic_takes_cluster(std::int64_t cols) {
  return cols >= kAutomaticClusterCols && cluster_holds(cols);
}

// Longest sequential chain of additions in a row's sum: a thread's elements, those of a warp, of a
// block, of the cluster.
constexpr std::int64_t cluster_chain(std::int64_t cols) {
  std::int64_t own = 0;
  for (const int count : {1, 4, 8}) {
    const ClusterRow of = cluster_row(cols, count, count == 8 ? 2 : 4);
    own = std::max(own, div_up(of.slice, of.threads) * count);
  }
  return own + kButterflySteps + kClusterThreads / kLanes + kButterflySteps;
}

} // namespace kg
