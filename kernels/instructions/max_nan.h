// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The larger of two numbers, or NaN where one is NaN: one instruction from 8.0 on, where a
// comparison that keeps NaN takes three.
#pragma once

#include "runtime/device_code.h"

namespace kg::ptx {

// Of zeros of both signs either.
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
