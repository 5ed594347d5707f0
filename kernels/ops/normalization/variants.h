// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The variants that rmsnorm and layernorm share.
#pragma once

#include "primitives/block.h"
#include "primitives/pipeline_config.h"
#include "runtime/enumerators.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace kg::normalization {

// naive: one thread per row, which it reads two (rmsnorm) or three times. warp: one warp per row,
// with the row in registers (cols <= kWarpMaxCols); one read and one write per element. block: one
// block per row, in registers if rows are aligned to 16 bytes and have at most 128 KiB
// (residual_rmsnorm: kBlockMaxCols columns), else read again.
enum class Variant { automatic, naive, warp, block };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block};

// Maximum elements per thread, as f32. With 1024 threads per block, a thread has 64 registers, too
// few for 32 elements.
inline constexpr int kWarpHeld = 32;
inline constexpr int kBlockHeld = 16;
inline constexpr std::int64_t kWarpMaxCols = kWarpHeld * kLanes;
inline constexpr std::int64_t kBlockMaxCols = kBlockHeld * kMaxBlockThreads;

using kg::name;

// Whether `variant` supports rows of this length.
inline bool supports(Variant variant, std::int64_t cols) {
  return variant != Variant::warp || cols <= kWarpMaxCols;
}

// The variant that runs.
inline Variant resolved(Variant variant, std::int64_t cols) {
  if (variant != Variant::automatic) return variant;
  return supports(Variant::warp, cols) ? Variant::warp : Variant::block;
}

// The fewest whole warps that hold the row.
constexpr int block_threads(std::int64_t cols) {
  const std::int64_t warps = div_up(cols, kBlockHeld * kLanes);
  return static_cast<int>(std::clamp<std::int64_t>(warps, 1, kMaxWarps)) * kLanes;
}

// The longest sequential chain of additions in a row's sums, with which the error bounds grow: the
// elements of a lane or thread, counted for vectors of 8, the widest; then five butterfly steps;
// then the warps.
inline std::int64_t chain(Variant variant, std::int64_t cols) {
  constexpr int kWidest = 8;
  const auto per_thread = [cols](int threads) {
    return div_up(div_up(cols, kWidest), threads) * kWidest;
  };
  switch (resolved(variant, cols)) {
  case Variant::warp: return per_thread(kLanes) + kButterflySteps;
  case Variant::block: {
    const int threads = block_threads(cols);
    return std::max(kRowPipelineChain, per_thread(threads) + kButterflySteps + threads / kLanes);
  }
  default: return cols;
  }
}

} // namespace kg::normalization
