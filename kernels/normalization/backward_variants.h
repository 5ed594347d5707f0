// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the gradients of rmsnorm and layernorm are computed: the variants, and how each cuts a
// problem.
#pragma once

#include "normalization/kind.h"
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
// to 8 blocks per row, whose registers hold the row up to kClusterHeldCols columns and else only
// the columns' sums, where rows are aligned; else as block (rows of kClusterMinCols to
// kClusterMaxCols columns, where launches may have clusters); `automatic` takes it for rows that no
// block's registers hold.
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
inline constexpr std::int64_t kClusterHeldCols = kClusterBlocks * kBlockMaxCols;
inline constexpr std::int64_t kClusterMaxCols = 4 * kClusterHeldCols;
inline constexpr int kStripCols = 1024; // that a block of column_partials takes
inline constexpr int kStripsPerSm = 4;
// A cluster lies in one group of multiprocessors (GPC), which has 16 of them or 18; those beyond 16
// hold no cluster of 8 blocks.
inline constexpr int kClusterSms = 16;
// Shared memory of a cluster's blocks, at most: of each thread, and besides.
inline constexpr std::size_t kClusterThreadBytes = 200;
inline constexpr std::size_t kClusterMailBytes = 512;

// Packs of x, and of dy, that a thread of a cluster has under way where registers do not hold the
// row; each pair takes 16 KiB. Beside dbeta's sums there is room for few.
constexpr int wide_ahead(Kind kind) { return kind == Kind::layer ? 2 : 4; }

using kg::name;

// As few whole warps as can hold the row.
constexpr int block_threads(std::int64_t cols) {
  const std::int64_t warps = div_up(cols, kHeld * kLanes);
  return static_cast<int>(std::clamp<std::int64_t>(warps, 1, kMostThreads / kLanes)) * kLanes;
}

// The blocks of a row's cluster. Of 256 threads two or more share a multiprocessor, one of which
// computes while the other waits for its cluster.
constexpr int cluster_blocks(std::int64_t cols) {
  constexpr std::int64_t kBlockCols = kHeld * kMostThreads / 2;
  int blocks = 2;
  while (blocks < kClusterBlocks && blocks * kBlockCols < cols) blocks *= 2;
  return blocks;
}
constexpr int cluster_threads(std::int64_t cols) {
  return block_threads(div_up(cols, cluster_blocks(cols)));
}

// Elements of a row that a thread of a cluster has at most: kHeld, 2 or 4 times as many.
constexpr int cluster_elements(std::int64_t cols) {
  int elements = kHeld;
  while (elements < 4 * kHeld && elements * kMostThreads * kClusterBlocks < cols) elements *= 2;
  return elements;
}

// Shared memory of a cluster's block, at the least.
constexpr std::size_t cluster_bytes(std::int64_t cols) {
  constexpr std::size_t kAhead = 2 * kPackBytes * wide_ahead(Kind::layer);
  const std::size_t of_thread = cols <= kClusterHeldCols
                                    ? kClusterThreadBytes
                                    : cluster_elements(cols) * sizeof(float) + kAhead;
  return kClusterMailBytes + cluster_threads(cols) * of_thread;
}

// Whether `variant` can do rows of this length here.
inline bool supports(Variant variant, std::int64_t cols) {
  switch (variant) {
  case Variant::warp: return cols <= kWarpMaxCols;
  case Variant::cluster:
    return cols >= kClusterMinCols && cols <= kClusterMaxCols && device_has_clusters() &&
           cluster_bytes(cols) <= device_properties().shared_bytes_per_block_optin;
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
    const std::int64_t per_group =
        kClusterSms * (kMostThreads / cluster_threads(cols)) / cluster_blocks(cols);
    return std::min(rows, std::max<std::int64_t>(sms / kClusterSms, 1) * per_group);
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
// butterfly steps; then the warps. A cluster's is that of a block, which takes unaligned rows, and
// five steps more.
inline std::int64_t row_chain(Variant variant, std::int64_t cols) {
  constexpr int kWidest = 8;
  const auto added_by = [cols](int threads) {
    return div_up(div_up(cols, kWidest), threads) * kWidest + kButterflySteps + threads / kLanes;
  };
  switch (resolved(variant, cols)) {
  case Variant::warp: return added_by(kLanes);
  case Variant::block: return added_by(block_threads(cols));
  case Variant::cluster: return added_by(block_threads(cols)) + kButterflySteps;
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
