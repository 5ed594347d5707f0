// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Butterfly reductions over a warp. Every lane gets the result, with the same bits in every run.
// All lanes must call.
#pragma once

#include "runtime/device_code.h"

namespace kg {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kLanes = 32;
inline constexpr int kButterflySteps = 5; // additions between a lane's value and the sum

__device__ inline float warp_max(float value) {
  KG_UNROLL
  for (int step = kLanes / 2; step > 0; step /= 2)
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}

__device__ inline float warp_sum(float value) {
  KG_UNROLL
  for (int step = kLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

// The same with F::combine, which must be commutative, among each `lanes` neighbours. `lanes` is a
// power of two, at most kLanes.
template <class F, class Value>
__device__ __forceinline__ Value group_reduce(Value value, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2)
    value = F::combine(value, __shfl_xor_sync(kAllLanes, value, step));
  return value;
}

} // namespace kg
