// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps the two f16 or bf16 of a word to 16-bit two's complement integers in the same order. This
// takes three instructions for both, and one for their signs. Zeros of both signs become 0, and
// every NaN becomes the same number, above all others.
#pragma once

#include "runtime/device_code.h"

#include <type_traits>

namespace kg::ptx {

// T: f16, bf16.
template <class T>
__device__ __forceinline__ unsigned ordered_halves(unsigned word) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  // Adding +0 turns -0 into +0. The maximum of two NaN is the canonical NaN, 0x7fff.
  unsigned sum, number, sign;
  if constexpr (std::is_same_v<T, bf16>) {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(word), "r"(0x3f803f80), "r"(0));
    asm("max.bf16x2 %0, %1, %2;" : "=r"(number) : "r"(sum), "r"(word));
  } else {
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(word), "r"(0x3c003c00), "r"(0));
    asm("max.f16x2 %0, %1, %2;" : "=r"(number) : "r"(sum), "r"(word));
  }
  asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(sign) : "r"(number)); // the sign of each half, 16 times
  return number ^ (sign & 0x7fff7fff);
#else
  constexpr unsigned kInfinity = std::is_same_v<T, bf16> ? 0x7f80 : 0x7c00;
  const auto ones = [](unsigned bits) {
    return (bits >> 15) * 0x7fff;
  }; // all bits below the top bit of each half
  const unsigned magnitude = word & 0x7fff7fff;
  const unsigned nan = (magnitude + (0x7fff - kInfinity) * 0x10001) & 0x80008000;
  const unsigned any = (magnitude + 0x7fff7fff) & 0x80008000;
  const unsigned sign = word & any & ~nan;
  return (magnitude | ones(nan) | sign) ^ ones(sign);
#endif
}

} // namespace kg::ptx
