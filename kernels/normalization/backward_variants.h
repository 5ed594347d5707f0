// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the gradients of rmsnorm and layernorm are computed: the variants, and how each cuts a
// problem.
#pragma once

#include "normalization/kind.h"
#include "primitives/block.h"
#include "primitives/partials.h"
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
// columns' sums by kernels of their own, the row read again.
enum class Variant { automatic, naive, warp, block };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block};

// Elements of x, and of dy, that a thread holds at most: with their gradients' sums and the row
// after, 6 floats of each in f32. 512 threads have 128 registers each.
inline constexpr int kHeld = 16;
inline constexpr int kMostThreads = 512;
inline constexpr int kRowsPerBlock = 4;    // warp: at a time
inline constexpr int kWarpBlocksPerSm = 3; // 12 warps with 168 registers each
inline constexpr std::int64_t kWarpMaxCols = kHeld * kLanes;
inline constexpr std::int64_t kBlockMaxCols = kHeld * kMostThreads;
inline constexpr int kStripCols = 1024; // that a block of column_partials takes
inline constexpr int kStripsPerSm = 4;

using kg::name;

// Whether `variant` can do rows of this length.
constexpr bool supports(Variant variant, std::int64_t cols) {
  return variant != Variant::warp || cols <= kWarpMaxCols;
}

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant, std::int64_t cols) {
  if (variant != Variant::automatic) return variant;
  return supports(Variant::warp, cols) ? Variant::warp : Variant::block;
}

// Sums per column: dgamma, and of layer normalisation dbeta.
constexpr int vectors(Kind kind) { return kind == Kind::layer ? 2 : 1; }

// As few whole warps as can hold the row.
constexpr int block_threads(std::int64_t cols) {
  const std::int64_t warps = div_up(cols, kHeld * kLanes);
  return static_cast<int>(std::clamp<std::int64_t>(warps, 1, kMostThreads / kLanes)) * kLanes;
}

// How many blocks sum their share of a column: no more than are resident at once, so that each
// sums many rows and the second launch has little to do.
inline std::int64_t parts(Variant variant, std::int64_t rows, std::int64_t cols) {
  const std::int64_t sms = device_properties().sm_count;
  switch (resolved(variant, cols)) {
  case Variant::warp: return std::min(div_up(rows, kRowsPerBlock), sms * kWarpBlocksPerSm);
  case Variant::block:
    if (cols <= kBlockMaxCols) return std::min(rows, sms * (kMostThreads / block_threads(cols)));
    return std::min(rows, div_up(sms * kStripsPerSm, div_up(cols, kStripCols)));
  default: return 0;
  }
}

inline std::size_t workspace_bytes(Kind kind, Variant variant, std::int64_t rows,
                                   std::int64_t cols) {
  return partials_bytes(parts(variant, rows, cols), vectors(kind), cols);
}

// Longest sequential chain of additions in a row's sums and in a column's: what the error bounds
// grow with. A thread's elements of a row one by one, counted for packs of 8, the widest; then five
// butterfly steps; then the warps.
constexpr std::int64_t row_chain(Variant variant, std::int64_t cols) {
  constexpr int kWidest = 8;
  const Variant runs = resolved(variant, cols);
  if (runs == Variant::naive) return cols;
  const int threads = runs == Variant::warp ? kLanes : block_threads(cols);
  return div_up(div_up(cols, kWidest), threads) * kWidest + kButterflySteps + threads / kLanes;
}

inline std::int64_t column_chain(Variant variant, std::int64_t rows, std::int64_t cols) {
  const Variant runs = resolved(variant, cols);
  if (runs == Variant::naive || rows == 0) return rows;
  const std::int64_t count = parts(variant, rows, cols);
  const int together = runs == Variant::warp ? kRowsPerBlock : 1;
  return div_up(rows, count * together) + together + partials_chain(count);
}

} // namespace kg::normalization::backward
