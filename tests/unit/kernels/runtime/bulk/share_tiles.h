// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel whose blocks load tiles for each other by multicast, and what can be wrong with it.
#pragma once

#include "runtime/device_code.h"
#include "runtime/tensor_map.h"

#include <cstddef>
#include <cstdint>

namespace kg::bulk {

inline constexpr unsigned kSharers = 2; // blocks of a cluster
inline constexpr unsigned kShareThreads = 64;
inline constexpr int kShareRows = 16, kShareColumns = 64; // of a tile, 16-bit elements
inline constexpr unsigned kShareElements = kShareRows * kShareColumns;
inline constexpr unsigned kShareStages = 2;
inline constexpr std::size_t kShareBytes =
    kShareStages * (kShareElements * sizeof(std::uint16_t) + 2 * sizeof(std::uint64_t));

enum class ShareMutant : int {
  none,
  half_the_bytes_expected,
  mask_of_one,
  mask_of_three,
  mask_of_none,
  stage_of_the_other_not_awaited,
  begins_before_the_other,
  last_tile_not_awaited,
};

// Loads `tiles` tiles of kShareRows rows into both blocks of a cluster; each block issues the
// copies of half of the rows. Block r writes twice the elements to out[r][tile][kShareElements].
// `map` has boxes of kShareRows / 2 rows with a 128-byte swizzle. kShareBytes of dynamic shared
// memory.
__global__ void share_tiles(const __grid_constant__ TensorMap map, unsigned tiles,
                            std::uint16_t* out, ShareMutant mutant);

} // namespace kg::bulk
