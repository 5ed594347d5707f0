// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 1 / x by the GPU's own instruction alone (PTX ISA, "rcp.approx.ftz.f32"). __fdividef is the same
// and five instructions more, for numbers whose reciprocal is subnormal, or which are: here those
// reciprocals are 0 and infinite.
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
