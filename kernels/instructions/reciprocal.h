// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 1 / x by the GPU's approximate instruction alone (PTX ISA, "rcp.approx.ftz.f32"). __fdividef
// takes five more instructions to handle subnormal numbers and subnormal reciprocals. Here, the
// reciprocal of a subnormal number is infinite, and subnormal reciprocals are 0.
#pragma once

#include "runtime/device_code.h"

#if !KG_BACKEND_CUDA
#include <cfloat>
#include <cmath>
#endif

namespace kg::ptx {

// Within 1 ulp.
__device__ inline float reciprocal_flushed(float x) {
#if !KG_BACKEND_CUDA
  const float result = 1.0f / (std::fabs(x) < FLT_MIN ? std::copysign(0.0f, x) : x);
  return std::fabs(result) < FLT_MIN ? std::copysign(0.0f, result) : result;
#else
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#endif
}

} // namespace kg::ptx
