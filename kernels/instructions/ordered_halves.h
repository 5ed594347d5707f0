// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The two f16 or bf16 of a word as two's complement integers of 16 bits in the same order, in three
// instructions for both and one for their signs: zeros of both signs are 0, and every NaN is the
// same number above all others.
#pragma once

#include "runtime/device_code.h"

#include <type_traits>

namespace kg::ptx {

// T: f16, bf16.
template <class T>
__device__ __forceinline__ unsigned ordered_halves(unsigned word) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  // Added to +0, a zero is +0; of two NaN the maximum is the canonical one, 0x7fff.
  unsigned sum, number, sign;
  if constexpr (std::is_same_v<T, bf16>) {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(word), "r"(0x3f803f80), "r"(0));
    asm("max.bf16x2 %0, %1, %2;" : "=r"(number) : "r"(sum), "r"(word));
  } else {
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(word), "r"(0x3c003c00), "r"(0));
    asm("max.f16x2 %0, %1, %2;" : "=r"(number) : "r"(sum), "r"(word));
  }
  asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(sign) : "r"(number)); // of each half, 16 times
  return number ^ (sign & 0x7fff7fff);
#else
  constexpr unsigned kInfinity = std::is_same_v<T, bf16> ? 0x7f80 : 0x7c00;
  const auto ones = [](unsigned bits) {
    return (bits >> 15) * 0x7fff;
  }; // below each half's last bit
  const unsigned magnitude = word & 0x7fff7fff;
  const unsigned nan = (magnitude + (0x7fff - kInfinity) * 0x10001) & 0x80008000;
  const unsigned any = (magnitude + 0x7fff7fff) & 0x80008000;
  const unsigned sign = word & any & ~nan;
  return (magnitude | ones(nan) | sign) ^ ones(sign);
#endif
}

} // namespace kg::ptx
