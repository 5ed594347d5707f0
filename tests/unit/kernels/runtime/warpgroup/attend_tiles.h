// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The inner loop of attention as Hopper computes it: a thread copies tiles of keys and values into
// rings of two stages; each of two warpgroups has 64 queries, and lets the exponentials of a tile
// run under the product of the weights before it.
#pragma once

#include "runtime/device_code.h"
#include "runtime/tensor_map.h"

namespace kg::warpgroup {

inline constexpr int kQueries = 128, kKeys = 64, kDepth = 64;
inline constexpr unsigned kAttendThreads = 384;
inline constexpr unsigned kAttendBytes = (kQueries + 2 * 2 * kKeys) * kDepth * 2; // shared memory

enum class AttendMutant : int {
  none,
  parity_of_other_round,
  register_fence_missing,
  too_few_bytes,
  too_many_bytes,
  values_released_early,
  weights_overwritten,
  sums_scaled_early,
  nothing_overlaps, // right, and slower
};

// out = softmax(q k^T / log2(e) * scale) v, of kQueries x kDepth floats, with `tiles` x kKeys keys.
// q, k and v are maps of bf16 with rows of kDepth elements, boxes of kQueries and kKeys rows, and a
// 128-byte swizzle. `scale` includes log2(e). One block of kAttendThreads.
template <AttendMutant kMutant>
__global__ void
attend_tiles(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k,
             const __grid_constant__ TensorMap v, float* out, int tiles, float scale);

} // namespace kg::warpgroup
