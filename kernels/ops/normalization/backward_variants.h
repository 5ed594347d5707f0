// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants of the gradients of rmsnorm and layernorm, and how each divides a problem.
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
// warp per row (cols <= kWarpMaxCols), several rows in turn; lanes keep their columns' sums in
// registers, a second launch adds the blocks' sums. block: the same with one block per row, up to
// kBlockMaxCols columns and rows aligned to 16 bytes; otherwise separate kernels compute dx and
// column sums, and read rows twice. cluster: as block, with a cluster of 2 to 8 blocks per row, for
// aligned rows of kClusterMinCols to kClusterMaxCols columns on devices with clusters; otherwise as
// block. Column sums are in registers and the row in shared memory; beyond kClusterHeldCols
// columns, as much of each as fits. `automatic` selects cluster for rows that exceed a block's
// registers.
enum class Variant { automatic, naive, warp, block, cluster };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block,
                                        Variant::cluster};

// Maximum elements of x, and of dy, per thread: with their column sums and the next row, 6 floats
// each in f32. 512 threads have 128 registers each.
inline constexpr int kHeld = 16;
inline constexpr int kMostThreads = 512;
inline constexpr int kRowsPerBlock = 4;    // warp: rows at a time
inline constexpr int kWarpBlocksPerSm = 3; // 12 warps with 168 registers each
inline constexpr std::int64_t kWarpMaxCols = kHeld * kLanes;
inline constexpr std::int64_t kBlockMaxCols = kHeld * kMostThreads;
inline constexpr int kClusterHeld = 2 * kHeld; // per thread of a cluster, besides its ring
inline constexpr std::int64_t kClusterHeldCols = kClusterBlocks * kMostThreads * kClusterHeld;
inline constexpr std::int64_t kClusterMaxCols = 2 * kClusterHeldCols;
inline constexpr int kStripCols = 1024; // columns per block of column_partials
inline constexpr int kStripsPerSm = 4;
// Maximum shared memory of a cluster's block: per thread, and in addition.
inline constexpr std::size_t kClusterThreadBytes = 384;
inline constexpr std::size_t kClusterMailBytes = 2112;

// Vectors of x, and of dy, that a thread of a cluster has in flight if registers do not hold the
// row. Each pair takes 16 KiB; with dbeta's sums, there is room for few.
constexpr int wide_ahead(Kind kind) { return kind == Kind::layer ? 2 : 4; }

using kg::name;

// The fewest whole warps that hold the row.
constexpr int block_threads(std::int64_t cols) {
  const std::int64_t warps = div_up(cols, kHeld * kLanes);
  return static_cast<int>(std::clamp<std::int64_t>(warps, 1, kMostThreads / kLanes)) * kLanes;
}

// Maximum elements of a row per thread of a cluster.
constexpr int cluster_elements(std::int64_t cols) {
  return cols <= kClusterHeldCols ? kClusterHeld : 2 * kClusterHeld;
}

// The fewest threads per block of a cluster that hold the row.
constexpr int cluster_threads(std::int64_t cols, int blocks) {
  int threads = kMostThreads / 4;
  while (threads < kMostThreads && std::int64_t{blocks} * threads * cluster_elements(cols) < cols)
    threads *= 2;
  return threads;
}
// Minimum shared memory per block.
constexpr std::size_t cluster_bytes(std::int64_t cols, int blocks) {
  constexpr std::size_t kAhead = 2 * kPackBytes * wide_ahead(Kind::layer);
  const std::size_t of_thread = cols <= kClusterHeldCols
                                    ? kClusterThreadBytes
                                    : cluster_elements(cols) * sizeof(float) + kAhead;
  return kClusterMailBytes + cluster_threads(cols, blocks) * of_thread;
}
// Whether `blocks` blocks can hold such a row on this device.
inline bool cluster_holds(std::int64_t cols, int blocks) {
  return std::int64_t{blocks} * cluster_threads(cols, blocks) * cluster_elements(cols) >= cols &&
         cluster_bytes(cols, blocks) <= device_properties().shared_bytes_per_block_optin;
}
// The smallest sufficient number, at least 2.
inline int cluster_blocks(std::int64_t cols) {
  int blocks = 2;
  while (blocks < kClusterBlocks && !cluster_holds(cols, blocks)) blocks *= 2;
  return blocks;
}

// Clusters of this size resident at once, with one block per multiprocessor. Clusters of 2 fill all
// pairs of multiprocessors. A larger cluster lies in one GPC, which may have multiprocessors left
// over: 12 of 132 on an H200 (cudaOccupancyMaxActiveClusters). A rule and not the driver's answer
// (runtime/resident_clusters.h), since workspaces and error bounds depend on it before a kernel
// exists to query.
inline std::int64_t clusters_at_once(int blocks) {
  const std::int64_t sms = device_properties().sm_count;
  return std::max<std::int64_t>((blocks == 2 ? sms : sms - sms / 11) / blocks, 1);
}

// Whether `variant` supports rows of this length on the current device.
inline bool supports(Variant variant, std::int64_t cols) {
  switch (variant) {
  case Variant::warp: return cols <= kWarpMaxCols;
  case Variant::cluster:
    return cols >= kClusterMinCols && cols <= kClusterMaxCols && device_has_clusters() &&
           cluster_holds(cols, cluster_blocks(cols));
  default: return true;
  }
}

// The variant that runs.
inline Variant resolved(Variant variant, std::int64_t cols) {
  if (variant != Variant::automatic) return variant;
  if (supports(Variant::warp, cols)) return Variant::warp;
  return cols > kBlockMaxCols && supports(Variant::cluster, cols) ? Variant::cluster
                                                                  : Variant::block;
}

// Sums per column: dgamma, and for layernorm dbeta.
constexpr int vectors(Kind kind) { return kind == Kind::layer ? 2 : 1; }

// Blocks, or clusters, that each sum a share of every column: at most as many as are resident, so
// that each sums many rows and the second launch is short.
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

// The longest sequential chains of additions in the sums of a row and of a column, with which error
// bounds grow. For a row: a thread's elements, counted for vectors of 8, the widest; then five
// butterfly steps; then the warps. For a cluster: the maximum of its own chain and that of a block,
// which takes unaligned rows.
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
