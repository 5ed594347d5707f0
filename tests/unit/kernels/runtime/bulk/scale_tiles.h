// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel with a ring of bulk copies in and another out, and what can be wrong with it.
#pragma once

#include "runtime/device_code.h"

namespace kg::bulk {

inline constexpr unsigned kStages = 2;
inline constexpr unsigned kTile = 256;     // floats
inline constexpr unsigned kConsumers = 64; // threads; a warp more copies

enum class Mutant : int {
  none,
  full_not_awaited,
  full_of_other_parity,
  empty_not_awaited,
  empty_of_other_parity,
  bytes_too_few,
  bytes_too_many,
  bytes_of_first_half,
  arrival_missing,
  arrival_before_reading,
  other_stage_read,
  stage_fence_missing,
  stage_fence_behind_barrier,
  init_fence_missing,
  group_of_another_thread,
  group_not_committed,
  group_not_awaited,
  store_before_barrier,
  destination_misaligned,
  source_misaligned,
  size_misaligned,
};

// Each tile of `in`, kTile floats long, times 2 into `out`, by one block of 32 + kConsumers
// threads.
__global__ void scale_tiles(const float* in, float* out, unsigned tiles, Mutant mutant);

} // namespace kg::bulk
