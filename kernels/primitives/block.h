// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over a block of whole warps. The warps' results are combined in order, so every thread
// gets the same bits in every run. Each reduction has one barrier, so no earlier one may still use
// `scratch` (shared memory, one value per warp, at most kMaxWarps). All threads must call.
#pragma once

#include "primitives/warp.h"

namespace kg {

inline constexpr int kMaxWarps = 32;
inline constexpr int kMaxBlockThreads = kMaxWarps * kLanes;

__device__ inline float block_max(float value, float* scratch) {
  value = warp_max(value);
  if (threadIdx.x % kLanes == 0) scratch[threadIdx.x / kLanes] = value;
  __syncthreads();
  float result = scratch[0];
  for (unsigned w = 1; w < blockDim.x / kLanes; ++w) result = fmaxf(result, scratch[w]);
  return result;
}

__device__ inline float block_sum(float value, float* scratch) {
  value = warp_sum(value);
  if (threadIdx.x % kLanes == 0) scratch[threadIdx.x / kLanes] = value;
  __syncthreads();
  float result = scratch[0];
  for (unsigned w = 1; w < blockDim.x / kLanes; ++w) result += scratch[w];
  return result;
}

// The same with F::combine; see group_reduce.
template <class F, class Value>
__device__ __forceinline__ Value block_reduce(Value value, Value* scratch) {
  value = group_reduce<F>(value, kLanes);
  if (threadIdx.x % kLanes == 0) scratch[threadIdx.x / kLanes] = value;
  __syncthreads();
  Value result = scratch[0];
  for (unsigned w = 1; w < blockDim.x / kLanes; ++w) result = F::combine(result, scratch[w]);
  return result;
}

} // namespace kg
