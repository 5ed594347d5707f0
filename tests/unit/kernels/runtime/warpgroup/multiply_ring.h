// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole product of matrices as Hopper computes it: blocks that stay, a lane that copies tiles in
// a ring of three stages across the border of one result to the next, two warpgroups that multiply,
// and results that leave by bulk stores while the next is computed.
#pragma once

#include "runtime/device_code.h"
#include "runtime/tensor_map.h"

namespace kg::warpgroup {

inline constexpr int kRingRows = 128, kRingColumns = 64, kRingDepth = 64; // a tile
inline constexpr int kRingStages = 3;
inline constexpr unsigned kRingThreads = 384;
inline constexpr unsigned kRingBytes =
    (kRingStages * (kRingRows + kRingColumns) + kRingRows) * kRingDepth * 2; // shared memory

enum class RingMutant : int {
  none,
  parity_of_other_round,
  proxy_fence_missing,
  too_few_bytes,
  too_many_bytes,
  store_not_waited_for,
};

// c = a b^T, of bf16, K-major: maps of a and b with boxes of kRingRows and kRingColumns rows of
// kRingDepth, of c with boxes of 64 rows of kRingColumns; all with a 128-byte swizzle. There are
// `rows` x `columns` tiles of c and `steps` of k. kRingThreads a block.
template <RingMutant kMutant>
__global__ void
multiply_ring(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
              const __grid_constant__ TensorMap c, int rows, int columns, int steps);

} // namespace kg::warpgroup
