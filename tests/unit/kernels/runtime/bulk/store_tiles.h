// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A warp that writes matrices from its registers, and has one lane copy them out.
#pragma once

#include "runtime/device_code.h"

namespace kg::bulk {

inline constexpr unsigned kMatrices = 4;

enum class StoreMutant : int {
  none,
  fence_missing,
  warp_not_synced,
  row_misaligned,
  all_lanes_copy, // right: a GPU executes it once
  lanes_copy_apart,
  group_not_awaited,
  half_of_warp,
};

// Matrix i holds 64 i + 8 r + c in row r, column c, or in row c, column r where `transposed`: 4 x
// 64 elements of 16 bits, by one warp. `elected` is the lane that copies.
__global__ void store_tiles(unsigned short* out, unsigned* elected, bool transposed,
                            StoreMutant mutant);

} // namespace kg::bulk
