// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// 2^x by the GPU's approximate instruction alone (PTX ISA, "ex2.approx.ftz.f32"). exp2f takes three
// more instructions to handle subnormal results, which are 0 here.
#pragma once

#include "runtime/device_code.h"

#if !KG_BACKEND_CUDA
#include <cfloat>
#include <cmath>
#endif

namespace kg::ptx {

// Within 2 ulp. A subnormal exponent counts as 0; a subnormal result is 0.
__device__ inline float exp2_flushed(float exponent) {
#if !KG_BACKEND_CUDA
  const float result = std::exp2(exponent);
  return result < FLT_MIN ? 0.0f : result; // NaN stays NaN
#else
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(exponent));
  return result;
#endif
}

} // namespace kg::ptx
