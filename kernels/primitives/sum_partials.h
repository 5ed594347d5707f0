// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second launch of column sums (partials.h). Reads 4 bytes per part, column and vector, mostly
// from L2. Why not atomics in the first launch: the order of additions, and so the bits, would vary
// between runs.
#pragma once

#include "primitives/partials.h"
#include "primitives/warp.h"
#include "runtime/launch.h"

#include <string>

namespace kg {

// Destinations of the sums of one or two vectors; null if not wanted. Not an array: indexing it by
// blockIdx would make nvcc copy the arguments to local memory.
template <class T>
struct Sums {
  T* first;
  T* second = nullptr;
};

// Sums 32 columns of vector blockIdx.y. Each of the block's W warps adds every W-th part, then the
// first warp adds the warps' sums.
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

// Enqueues the second launch. Without parts the sums are 0. Throws Error, with a message that
// starts with `op`, if the columns need more blocks than a grid can have.
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
