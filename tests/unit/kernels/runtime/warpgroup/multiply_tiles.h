// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A product of matrices as Hopper computes it: a warp has tiles copied in a ring of two stages; the
// first of two warpgroups doubles A in place, and both multiply.
#pragma once

#include "runtime/device_code.h"
#include "runtime/tensor_map.h"

namespace kg::warpgroup {

inline constexpr unsigned kTileRows = 64, kTileColumns = 32, kTileDepth = 64;
inline constexpr unsigned kTilesThreads = 384;

enum class TilesMutant : int {
  none,
  register_fence_missing,
  proxy_fence_missing,
  released_early,
  waits_for_one_too_few,
  commit_missing,
  sum_read_early,
  start_of_another,
  swizzle_of_another,
  stride_of_another,
  one_thread_differs,
  half_of_warpgroup,
};

// out = 2 A B^T, once for each warpgroup, of kTileRows x kTileColumns floats, with `steps` x
// kTileDepth of k: A and B are maps of bf16, K-major, with a 128-byte swizzle. `spread`: one group
// stays pending, and the stage before is released.
__global__ void multiply_tiles(const __grid_constant__ TensorMap a,
                               const __grid_constant__ TensorMap b, float* out, int steps,
                               bool spread, TilesMutant mutant);

} // namespace kg::warpgroup
