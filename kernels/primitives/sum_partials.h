// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second launch of sums by column (partials.h). It reads 4 bytes per part, column and vector,
// most of them from L2. Why no atomics in the first launch instead: the order, so the bits, would
// change from run to run.
#pragma once

#include "primitives/partials.h"
#include "primitives/warp.h"
#include "runtime/launch.h"

#include <string>

namespace kg {

// Where the sums of the parts' one or two vectors go; null where they are not wanted. No array: an
// index that only the block knows would make nvcc copy the arguments to local memory.
template <class T>
struct Sums {
  T* first;
  T* second = nullptr;
};

// Each of a block's W warps adds those of 32 columns of every W-th part, then the first warp
// theirs. Vector blockIdx.y of the parts.
template <class T, int Vectors>
__global__ void __launch_bounds__(kSumWarps* kLanes)
    sum_partials(const float* partials, std::int64_t parts, std::int64_t cols, Sums<T> sums) {
  __shared__ float of_warps[kSumWarps][kLanes];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  const int warps = static_cast<int>(blockDim.x) / kLanes;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kLanes + lane;
  const int vector = static_cast<int>(blockIdx.y);
  float own = 0;
  if (column < cols)
    for (std::int64_t part = warp; part < parts; part += warps)
      own += partials[partial_offset(part, Vectors, vector, cols) + column];
  of_warps[warp][lane] = own;
  __syncthreads();
  T* const to = vector == 0 ? sums.first : sums.second;
  if (warp > 0 || column >= cols || to == nullptr) return;
  for (int w = 1; w < warps; ++w) own += of_warps[w][lane];
  to[column] = from_float<T>(own);
}

// Enqueues the second launch; of no parts the sums are 0. `op` begins the message of the Error
// that is thrown where so many columns need more blocks than a launch has.
template <class T, int Vectors>
void launch_sum_partials(const std::string& op, const float* partials, std::int64_t parts,
                         std::int64_t cols, const Sums<T>& sums, Stream& stream) {
  launch(sum_partials<T, Vectors>,
         {.grid = dim3(grid_x(div_up(cols, kLanes), op + ": the columns", "split them"), Vectors),
          .block = static_cast<unsigned>(sum_warps(parts) * kLanes),
          .stream = &stream},
         partials, parts, cols, sums);
}

} // namespace kg
