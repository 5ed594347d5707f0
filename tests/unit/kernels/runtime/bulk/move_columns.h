// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels that move the columns of pixels of a convolution, and what can be wrong with them.
#pragma once

#include "runtime/device_code.h"
#include "runtime/tensor_map.h"

namespace kg::bulk {

inline constexpr unsigned kColumnThreads = 32;
inline constexpr unsigned kMostColumnElements = 2048; // of 16 bits

enum class ColumnMutant : int {
  none,
  bytes_too_few,
  phase_not_awaited,
  fence_missing,
  begins_outside,
  offset_too_large,
};

// A convolution over W, H and D; those that the rank does not have are 1, without padding.
struct Convolution {
  int rank; // of the images
  int filter[3], stride[3], padding[3], dilation[3], output[3];
  int first_channel;
  int pixels; // of a column
};

// Each block of kColumnThreads threads loads one column of output pixels for each tap in turn, and
// copies all of its shared memory to out[block][tap][kMostColumnElements]; 0xABAB where no bytes
// have come. `bytes`: of a column.
__global__ void load_columns(const __grid_constant__ TensorMap map, Convolution of, unsigned bytes,
                             unsigned short* out, ColumnMutant mutant);

// Element i of shared memory becomes 100 * block + i + 1. Each block stores one column of the first
// tap.
__global__ void store_columns(const __grid_constant__ TensorMap map, Convolution of,
                              ColumnMutant mutant);

} // namespace kg::bulk
