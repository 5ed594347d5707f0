// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the gradients of rmsnorm and layernorm are computed: the variants, and how each cuts a
// problem.
#pragma once

#include "ops/normalization/kind.h"
#include "primitives/block.h"
#include "primitives/cluster_shape.h"
#include "primitives/partials.h"
#include "runtime/clusters.h"
#include "runtime/device.h"
#include "runtime/enumerators.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::normalization::backward {

// naive: one thread per row for dx, one per column for dgamma and dbeta; no workspace. warp: one
// warp per row (cols <= kWarpMaxCols), several rows one after the other; a lane keeps the sums of
// its columns in registers, the blocks' sums meet in a second launch. block: the same with one
// block per row up to kBlockMaxCols columns, where rows are aligned to 16 bytes; else dx and the
// columns' sums by kernels of their own, the row read again. cluster: as block, with a cluster of 2
// to 8 blocks per row, whose registers hold the columns' sums and whose shared memory the row, of
// more than kClusterHeldCols columns what it can of both, where rows are aligned; else as block
// (rows of kClusterMinCols to kClusterMaxCols columns, where launches may have clusters);
// `automatic` takes it for rows that no block's registers hold.
enum class Variant { automatic, naive, warp, block, cluster };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block,
                                        Variant::cluster};

// Elements of x, and of dy, that a thread holds at most: with their gradients' sums and the row
// after, 6 floats of each in f32. 512 threads have 128 registers each.
inline constexpr int kHeld = 16;
inline constexpr int kMostThreads = 512;
inline constexpr int kRowsPerBlock = 4;    // warp: at a time
inline constexpr int kWarpBlocksPerSm = 3; // 12 warps with 168 registers each
inline constexpr std::int64_t kWarpMaxCols = kHeld * kLanes;
inline constexpr std::int64_t kBlockMaxCols = kHeld * kMostThreads;
inline constexpr int kClusterHeld = 2 * kHeld; // of a thread of a cluster, beside its ring
inline constexpr std::int64_t kClusterHeldCols = kClusterBlocks * kMostThreads * kClusterHeld;
inline constexpr std::int64_t kClusterMaxCols = 2 * kClusterHeldCols;
inline constexpr int kStripCols = 1024; // that a block of column_partials takes
inline constexpr int kStripsPerSm = 4;
// Shared memory of a cluster's blocks, at most: of each thread, and besides.
inline constexpr std::size_t kClusterThreadBytes = 384;
inline constexpr std::size_t kClusterMailBytes = 2112;

// Packs of x, and of dy, that a thread of a cluster has under way where registers do not hold the
// row; each pair takes 16 KiB. Beside dbeta's sums there is room for few.
constexpr int wide_ahead(Kind kind) { return kind == Kind::layer ? 2 : 4; }

using kg::name;

// As few whole warps as can hold the row.
constexpr int block_threads(std::int64_t cols) {
  const std::int64_t warps = div_up(cols, kHeld * kLanes);
  return static_cast<int>(std::clamp<std::int64_t>(warps, 1, kMostThreads / kLanes)) * kLanes;
}

// Elements of a row that a thread of a cluster has at most.
constexpr int cluster_elements(std::int64_t cols) {
  return cols <= kClusterHeldCols ? kClusterHeld : 2 * kClusterHeld;
}

// The threads of each of a cluster's blocks: as few of these as have the row.
constexpr int cluster_threads(std::int64_t cols, int blocks) {
  int threads = kMostThreads / 4;
  while (threads < kMostThreads && std::int64_t{blocks} * threads * cluster_elements(cols) < cols)
    threads *= 2;
  return threads;
}
// Shared memory of each, at the least.
constexpr std::size_t cluster_bytes(std::int64_t cols, int blocks) {
  constexpr std::size_t kAhead = 2 * kPackBytes * wide_ahead(Kind::layer);
  const std::size_t of_thread = cols <= kClusterHeldCols
                                    ? kClusterThreadBytes
                                    : cluster_elements(cols) * sizeof(float) + kAhead;
  return kClusterMailBytes + cluster_threads(cols, blocks) * of_thread;
}
// Whether so many blocks can have such a row here.
inline bool cluster_holds(std::int64_t cols, int blocks) {
  return std::int64_t{blocks} * cluster_threads(cols, blocks) * cluster_elements(cols) >= cols &&
         cluster_bytes(cols, blocks) <= device_properties().shared_bytes_per_block_optin;
}
// As few as can, at least 2.
inline int cluster_blocks(std::int64_t cols) {
  int blocks = 2;
  while (blocks < kClusterBlocks && !cluster_holds(cols, blocks)) blocks *= 2;
  return blocks;
}

// Clusters of so many blocks that are resident at once, one block on a multiprocessor. Of 2 all
// that there are multiprocessors for. A larger one lies in one group of them (GPC), which may have
// some that are left over: on an H200 12 of 132 (cudaOccupancyMaxActiveClusters). A rule, and not
// the driver's answer (runtime/resident_clusters.h), because workspaces and error bounds go by it
// before there is a kernel to ask of.
inline std::int64_t clusters_at_once(int blocks) {
  const std::int64_t sms = device_properties().sm_count;
  return std::max<std::int64_t>((blocks == 2 ? sms : sms - sms / 11) / blocks, 1);
}

// Whether `variant` can do rows of this length here.
inline bool supports(Variant variant, std::int64_t cols) {
  switch (variant) {
  case Variant::warp: return cols <= kWarpMaxCols;
  case Variant::cluster:
    return cols >= kClusterMinCols && cols <= kClusterMaxCols && device_has_clusters() &&
           cluster_holds(cols, cluster_blocks(cols));
  default: return true;
  }
}

// What runs where `variant` is asked for.
inline Variant resolved(Variant variant, std::int64_t cols) {
  if (variant != Variant::automatic) return variant;
  if (supports(Variant::warp, cols)) return Variant::warp;
  return cols > kBlockMaxCols && supports(Variant::cluster, cols) ? Variant::cluster
                                                                  : Variant::block;
}

// Sums per column: dgamma, and of layer normalisation dbeta.
constexpr int vectors(Kind kind) { return kind == Kind::layer ? 2 : 1; }

// How many blocks, or clusters, sum their share of a column: no more than are resident at once, so
// that each sums many rows and the second launch has little to do.
inline std::int64_t parts(Variant variant, std::int64_t rows, std::int64_t cols) {
  const std::int64_t sms = device_properties().sm_count;
  switch (resolved(variant, cols)) {
  case Variant::warp: return std::min(div_up(rows, kRowsPerBlock), sms * kWarpBlocksPerSm);
  case Variant::block:
    if (cols <= kBlockMaxCols) return std::min(rows, sms * (kMostThreads / block_threads(cols)));
    return std::min(rows, div_up(sms * kStripsPerSm, div_up(cols, kStripCols)));
  case Variant::cluster: {
    const int blocks = cluster_blocks(cols);
    return std::min(rows,
                    clusters_at_once(blocks) * (kMostThreads / cluster_threads(cols, blocks)));
  }
  default: return 0;
  }
}

inline std::size_t workspace_bytes(Kind kind, Variant variant, std::int64_t rows,
                                   std::int64_t cols) {
  return partials_bytes(parts(variant, rows, cols), vectors(kind), cols);
}

// Longest sequential chain of additions in a row's sums and in a column's: what the error bounds
// grow with. A thread's elements of a row one by one, counted for packs of 8, the widest; then five
// butterfly steps; then the warps. A cluster's is its own, or that of a block, which takes
// unaligned rows.
inline std::int64_t row_chain(Variant variant, std::int64_t cols) {
  constexpr int kWidest = 8;
  const auto added_by = [cols](int threads) {
    return div_up(div_up(cols, kWidest), threads) * kWidest + kButterflySteps + threads / kLanes;
  };
  switch (resolved(variant, cols)) {
  case Variant::warp: return added_by(kLanes);
  case Variant::block: return added_by(block_threads(cols));
  case Variant::cluster: {
    constexpr int kWarps = kClusterBlocks * kMostThreads / kLanes;
    return std::max<std::int64_t>(added_by(block_threads(cols)),
                                  cluster_elements(cols) + kWarps / kLanes + 2 * kButterflySteps);
  }
  default: return cols;
  }
}

inline std::int64_t column_chain(Variant variant, std::int64_t rows, std::int64_t cols) {
  const Variant runs = resolved(variant, cols);
  if (runs == Variant::naive || rows == 0) return rows;
  const std::int64_t count = parts(variant, rows, cols);
  const int together = runs == Variant::warp ? kRowsPerBlock : 1;
  return div_up(rows, count * together) + together + partials_chain(count);
}

} // namespace kg::normalization::backward
