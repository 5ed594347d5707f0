// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The larger of two numbers, or NaN if either is NaN. One instruction on 8.0 and above, where a
// NaN-preserving comparison takes three.
#pragma once

#include "runtime/device_code.h"

namespace kg::ptx {

// May return either of two zeros of opposite signs.
__device__ inline float max_nan(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#else
  return b > a || b != b ? b : a;
#endif
}

} // namespace kg::ptx
