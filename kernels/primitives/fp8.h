// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions of 8-bit floating-point numbers. They are storage formats: every value is exact in
// f16 and f32, where arithmetic happens.
#pragma once

#include "instructions/fp8.h"
#include "primitives/fp8_types.h"
#include "runtime/device_code.h"

#include <cstdint>
#include <type_traits>

namespace kg {

// Exact conversion.
__device__ __forceinline__ float to_float(e5m2 value) {
  return to_float(__ushort_as_half(static_cast<unsigned short>(value.bits << 8)));
}
// Shifting the bits into the fields of f32 gives the number with an exponent that is 120 too small.
// Multiplying by 2^120 corrects that, also for subnormals.
__device__ __forceinline__ float to_float(e4m3 value) {
  const unsigned magnitude = value.bits & 0x7Fu, sign = (value.bits & 0x80u) << 24;
  const float number = __uint_as_float(sign | magnitude << 20) * 0x1p120F;
  return magnitude == 0x7F ? __uint_as_float(0x7FFFFFFFu) : number;
}

namespace fp8_detail {

template <class T>
inline constexpr int kFraction = std::is_same_v<T, e4m3> ? 3 : 2;
template <class T>
inline constexpr int kBias = std::is_same_v<T, e4m3> ? 7 : 15;
template <class T>
inline constexpr unsigned kLargest = std::is_same_v<T, e4m3> ? 0x7E : 0x7B;

// The bits of a magnitude (not NaN), rounded to nearest even; above kLargest if out of range.
template <class T>
__device__ __forceinline__ unsigned rounded(float magnitude) {
  constexpr int kDropped = 23 - kFraction<T>;
  const unsigned bits = __float_as_uint(magnitude);
  const unsigned least_normal = static_cast<unsigned>(127 + 1 - kBias<T>) << 23;
  // Adding a number whose ulp is the smallest subnormal makes the addition round.
  if (bits < least_normal) {
    const unsigned unit = least_normal + (static_cast<unsigned>(kDropped) << 23);
    return __float_as_uint(magnitude + __uint_as_float(unit)) - unit;
  }
  const unsigned odd = bits >> kDropped & 1u;
  const unsigned nearest = bits + (1u << (kDropped - 1)) - 1 + odd;
  return (nearest - (static_cast<unsigned>(127 - kBias<T>) << 23)) >> kDropped;
}

} // namespace fp8_detail

// Rounds to nearest even. Out-of-range values and infinities become the largest number if
// `saturate`, otherwise NaN (e4m3) or infinity (e5m2). Every NaN becomes 0x7F. Matches
// cvt.rn.satfinite (PTX ISA, "cvt") and, without saturation, cuda_fp8.h with __NV_NOSAT.
template <class T>
__device__ __forceinline__ T narrowed(float value, bool saturate) {
  using namespace fp8_detail;
  const unsigned sign = __float_as_uint(value) >> 24 & 0x80u;
  const unsigned bits = rounded<T>(fabsf(value));
  const unsigned beyond = saturate ? kLargest<T> : kLargest<T> + 1;
  const unsigned number = sign | (bits > kLargest<T> ? beyond : bits);
  return {static_cast<std::uint8_t>(value != value ? 0x7Fu : number)};
}

// Converts two neighbours with saturation, by one instruction if the architecture has it.
template <class T>
__device__ __forceinline__ void narrowed_pair(float first, float second, T (&to)[2]) {
#if KG_BACKEND_CUDA && __CUDA_ARCH__ >= 890
  const unsigned short both =
      std::is_same_v<T, e4m3> ? ptx::to_e4m3_pair(first, second) : ptx::to_e5m2_pair(first, second);
  to[0].bits = static_cast<std::uint8_t>(both);
  to[1].bits = static_cast<std::uint8_t>(both >> 8);
#else
  to[0] = narrowed<T>(first, true);
  to[1] = narrowed<T>(second, true);
#endif
}

} // namespace kg
