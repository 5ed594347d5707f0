// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that move one box of a tensor, and what can be wrong with them.
#pragma once

#include "runtime/device_code.h"
#include "runtime/tensor_map.h"

namespace kg::bulk {

inline constexpr unsigned kBoxThreads = 32;
inline constexpr unsigned kMostBoxElements = 2048; // of 16 bits

enum class BoxMutant : int {
  none,
  phase_not_awaited,
  bytes_too_few,
  bytes_too_many,
  bytes_of_one_of_two,
  stage_reused,
  fence_missing,
  stage_overwritten,
  shared_misaligned,
  rank_of_another,
};

struct Origin {
  int at[5];
};

// By one block of kBoxThreads threads: twice the box at `first` through shared memory to `out`;
// kMostBoxElements elements of it, those that are not the box's 0xABAB.
__global__ void load_box(const __grid_constant__ TensorMap map, int rank, Origin first,
                         unsigned bytes, unsigned short* out, BoxMutant mutant);

// Element i of the box in shared memory becomes i + 1, then the box is stored.
__global__ void store_box(const __grid_constant__ TensorMap map, int rank, Origin first,
                          BoxMutant mutant);

} // namespace kg::bulk
