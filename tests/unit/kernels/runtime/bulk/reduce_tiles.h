// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that reduce tiles of shared memory into global memory, and what can be wrong with them.
#pragma once

#include "runtime/device_code.h"
#include "runtime/reduce_op.h"
#include "runtime/tensor_map.h"
#include "tests/unit/kernels/runtime/bulk/move_boxes.h"

namespace kg::bulk {

inline constexpr unsigned kReduced = 64; // elements and threads

enum class ReduceMutant : int {
  none,
  fence_missing,
  tile_overwritten,       // before the reductions have read it
  sum_not_awaited,        // only the reads
  one_of_two_not_awaited, // of two threads that reduce into the same place
  plain_write_beside,
  atomics_beside, // right
};

// to[i] = op(to[i], from[i]) for kReduced elements, by one block of kReduced threads. Nothing if
// there is no such reduction. Instantiated for all types that have one.
template <class T>
__global__ void reduce_elements(ReduceOp op, T* to, const T* from);

// Each block adds i + 1 to sums[i] twice, by bulk reductions of a tile of kReduced elements. With
// atomics_beside each thread adds 1 more, with one_of_two_not_awaited thread 32 as much as thread
// 0. Unless null, `seen` is what the block then reads of sums.
__global__ void reduce_tiles(float* sums, float* seen, ReduceMutant mutant);

// Reduces the box at `first` whose element i is i % 512, in f16, into the tensor.
__global__ void reduce_box(const __grid_constant__ TensorMap map, int rank, Origin first,
                           ReduceOp op);

} // namespace kg::bulk
