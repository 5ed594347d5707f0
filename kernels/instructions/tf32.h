// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// TF32, an operand format of mma (mma.h): the sign, the exponent and the upper 10 fraction bits of
// a float, in a 32-bit register (PTX ISA, "Alternate Floating-Point Data Formats").
#pragma once

#include "runtime/device_code.h"

#include <cmath>
#include <cstdint>

#if !KG_BACKEND_CUDA
#include <bit>
#endif

namespace kg::ptx {

// `value` rounded to nearest, ties away from zero (PTX ISA, "cvt.rna.tf32.f32"); NaN is 0x7fffffff.
// Architecture 8.0 and above; a kernel that uses it on older architectures traps.
__device__ inline unsigned to_tf32(float value) {
#if !KG_BACKEND_CUDA
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffffffu;
  // Adding half a unit carries into the kept bits exactly when the magnitude is rounded up.
  return (bits + 0x1000u) & ~0x1fffu;
#elif __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
#else
  __trap();
  return 0;
#endif
}

// The same for mma, which ignores the low 13 bits. They are not cleared, since nvcc (13.0) needs a
// third instruction for that if a loop carries the operand to its next iteration. NaN keeps its
// upper bits, so a signalling NaN with no bits set but the low 13 becomes infinite.
__device__ inline unsigned to_tf32_operand(float value) {
  const unsigned bits = __float_as_uint(value);
  return fabsf(value) < INFINITY ? bits + 0x1000u : bits;
}

} // namespace kg::ptx
