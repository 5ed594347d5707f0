// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// scan's variant pipelined, as scan.cu calls it (pipelined.cu).
#pragma once

#include "ops/scan/scan.h"
#include "primitives/pack.h"

#include <cstdint>

namespace kg::scan {

// A tile: three packs per thread of twelve warps. Threads have contiguous packs, and an odd number
// of them spreads the packs that a quarter of a warp accesses over all banks.
inline constexpr int kPipelinedWarps = 12;
inline constexpr int kPipelinedPacks = 3;
template <class T>
inline constexpr int kPipelinedItems = kPipelinedPacks* kPackElements<T>; // per thread
template <class T>
inline constexpr std::int64_t kPipelinedTile = kPipelinedWarps * 32 * kPipelinedItems<T>;

// Whether bulk copies can load x and store y, both without heads; otherwise look_back runs.
template <class T>
bool pipelined_fits(const Problem& problem, const T* x, const T* y) {
  return !problem.segmented && is_aligned(x) && is_aligned(y);
}

// Whether there are more tiles than blocks at once, so that blocks load tiles ahead.
bool pipelined_pays(std::int64_t tiles);

// Enqueues the scan of a valid problem with n > 0 that fits. workspace: that of look_back.
template <class T>
void run_pipelined(const Problem& problem, const T* x, T* y, void* workspace, Stream& stream);

} // namespace kg::scan
