// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts two f32 to 8-bit numbers, to nearest even with saturation, `first` in the lower byte,
// and two such numbers to f16 (PTX ISA, "cvt"). Architecture 8.9 and above; a kernel that uses them
// on older ones traps. primitives/fp8.h works on all architectures and on the host.
#pragma once

#include "runtime/device_code.h"

#if KG_BACKEND_CUDA

namespace kg::ptx {

__device__ __forceinline__ unsigned short to_e4m3_pair(float first, float second) {
  unsigned short both = 0;
#if __CUDA_ARCH__ >= 890
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(second), "f"(first));
#else
  __trap();
#endif
  return both;
}

__device__ __forceinline__ unsigned short to_e5m2_pair(float first, float second) {
  unsigned short both = 0;
#if __CUDA_ARCH__ >= 890
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(second), "f"(first));
#else
  __trap();
#endif
  return both;
}

// Exact. The lower byte's number is in the lower half.
__device__ __forceinline__ unsigned halves_of_e4m3(unsigned short both) {
  unsigned halves = 0;
#if __CUDA_ARCH__ >= 890
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(both));
#else
  __trap();
#endif
  return halves;
}

} // namespace kg::ptx

#endif
