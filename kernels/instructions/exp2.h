// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 2 to a power by the GPU's own instruction alone (PTX ISA, "ex2.approx.ftz.f32"). exp2f is the
// same and three instructions more, for results that are subnormal: here these are 0.
#pragma once

#include "runtime/device_code.h"

#if !KG_BACKEND_CUDA
#include <cfloat>
#include <cmath>
#endif

namespace kg::ptx {

// Within 2 ulp; a subnormal exponent counts as 0, a subnormal result is 0.
__device__ inline float exp2_flushed(float exponent) {
#if !KG_BACKEND_CUDA
  const float result = std::exp2(exponent);
  return result < FLT_MIN ? 0.0f : result; // of NaN itself
#else
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
  return result;
#endif
}

} // namespace kg::ptx
