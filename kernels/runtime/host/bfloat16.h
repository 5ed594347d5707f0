// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// __nv_bfloat16 and __nv_bfloat162 for the host backend: the types, conversions and names of CUDA's
// cuda_bf16.h, bit for bit, without a toolkit. The arithmetic is in float16.h and float16_pair.h.
#pragma once

#include "runtime/host/forceinline.h"
#include "runtime/host/half.h"

#include <bit>
#include <cstdint>

// Just the bits, as an aggregate.
struct alignas(2) __nv_bfloat16_raw {
  unsigned short x;
};
struct alignas(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

namespace kg::host {

// bfloat16: the upper half of a float, so 1 sign, 8 exponent and 7 fraction bits, bias 127.
struct Bfloat16 {
  using Raw = __nv_bfloat16_raw;
  static constexpr unsigned short kOne = 0x3f80;
  static constexpr unsigned short kInfinity = 0x7f80;
  static constexpr unsigned short kNan = 0x7fff;

  // Exact; a NaN keeps its bits.
  static float to_float(unsigned short bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

  template <Rounding mode>
  static unsigned short from_float(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return kNan;
    // Adding to the dropped half carries into the kept half exactly if the mode rounds away from
    // zero.
    std::uint32_t carry = 0;
    if constexpr (mode == Rounding::nearest) carry = 0x7fffu + ((bits >> 16) & 1); // ties to even
    if constexpr (mode == Rounding::down) carry = (bits >> 31) != 0 ? 0xffffu : 0;
    if constexpr (mode == Rounding::up) carry = (bits >> 31) == 0 ? 0xffffu : 0;
    return static_cast<unsigned short>((bits + carry) >> 16);
  }
};

} // namespace kg::host

struct __nv_bfloat16 : kg::host::Float16<__nv_bfloat16, kg::host::Bfloat16> {
  using Float16::Float16;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(const __half& value) : Float16(float(value)) {}
};

inline __half::__half(const __nv_bfloat16& value) : Float16(float(value)) {}

struct __nv_bfloat162
    : kg::host::Float16Pair<__nv_bfloat162, __nv_bfloat16, __nv_bfloat162_raw, __nv_bfloat16_raw> {
  using Float16Pair::Float16Pair;
  __nv_bfloat162() = default;
};

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// Bit casts between bfloat16 and integers.
constexpr __forceinline__ unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) {
  return __nv_bfloat16_raw(a).x;
}
constexpr __forceinline__ short __bfloat16_as_short(__nv_bfloat16 a) {
  return static_cast<short>(__nv_bfloat16_raw(a).x);
}
constexpr __forceinline__ __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __nv_bfloat16_raw{bits};
}
constexpr __forceinline__ __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __nv_bfloat16_raw{static_cast<unsigned short>(bits)};
}

// Conversions from and to float; the suffix is the rounding mode.
__forceinline__ float __bfloat162float(__nv_bfloat16 a) { return a; }
__forceinline__ __nv_bfloat16 __double2bfloat16(double a) { return a; }
__forceinline__ __nv_bfloat16 __float2bfloat16(float a) { return a; }
__forceinline__ __nv_bfloat16 __float2bfloat16_rn(float a) { return a; }
__forceinline__ __nv_bfloat16 __float2bfloat16_rz(float a) {
  return __nv_bfloat16_raw{kg::host::Bfloat16::from_float<kg::host::Rounding::zero>(a)};
}
__forceinline__ __nv_bfloat16 __float2bfloat16_rd(float a) {
  return __nv_bfloat16_raw{kg::host::Bfloat16::from_float<kg::host::Rounding::down>(a)};
}
__forceinline__ __nv_bfloat16 __float2bfloat16_ru(float a) {
  return __nv_bfloat16_raw{kg::host::Bfloat16::from_float<kg::host::Rounding::up>(a)};
}

// Conversions from and to an integer type, in the four rounding modes. A macro, to generate names.
#define KG_BFLOAT16_INTEGER(name, Type)                                                            \
  __forceinline__ Type __bfloat162##name##_rn(__nv_bfloat16 a) {                                   \
    return kg::host::to_integer<Type, kg::host::Rounding::nearest>(float(a));                      \
  }                                                                                                \
  __forceinline__ Type __bfloat162##name##_rz(__nv_bfloat16 a) {                                   \
    return kg::host::to_integer<Type, kg::host::Rounding::zero>(float(a));                         \
  }                                                                                                \
  __forceinline__ Type __bfloat162##name##_rd(__nv_bfloat16 a) {                                   \
    return kg::host::to_integer<Type, kg::host::Rounding::down>(float(a));                         \
  }                                                                                                \
  __forceinline__ Type __bfloat162##name##_ru(__nv_bfloat16 a) {                                   \
    return kg::host::to_integer<Type, kg::host::Rounding::up>(float(a));                           \
  }                                                                                                \
  __forceinline__ __nv_bfloat16 __##name##2bfloat16_rn(Type a) { return a; }                       \
  __forceinline__ __nv_bfloat16 __##name##2bfloat16_rz(Type a) {                                   \
    return __float2bfloat16_rz(kg::host::narrow_to_odd(kg::host::integer_to_odd(a)));              \
  }                                                                                                \
  __forceinline__ __nv_bfloat16 __##name##2bfloat16_rd(Type a) {                                   \
    return __float2bfloat16_rd(kg::host::narrow_to_odd(kg::host::integer_to_odd(a)));              \
  }                                                                                                \
  __forceinline__ __nv_bfloat16 __##name##2bfloat16_ru(Type a) {                                   \
    return __float2bfloat16_ru(kg::host::narrow_to_odd(kg::host::integer_to_odd(a)));              \
  }
KG_BFLOAT16_INTEGER(short, short)
KG_BFLOAT16_INTEGER(ushort, unsigned short)
KG_BFLOAT16_INTEGER(int, int)
KG_BFLOAT16_INTEGER(uint, unsigned)
KG_BFLOAT16_INTEGER(ll, long long)
KG_BFLOAT16_INTEGER(ull, unsigned long long)
#undef KG_BFLOAT16_INTEGER
__forceinline__ signed char __bfloat162char_rz(__nv_bfloat16 a) {
  return static_cast<signed char>(a);
}
__forceinline__ unsigned char __bfloat162uchar_rz(__nv_bfloat16 a) {
  return static_cast<unsigned char>(a);
}

// Packing and unpacking pairs of floats and bfloat16.
constexpr __forceinline__ __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
constexpr __forceinline__ __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) {
  return {low, high};
}
constexpr __forceinline__ __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
__forceinline__ __nv_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
__forceinline__ __nv_bfloat162 __floats2bfloat162_rn(float low, float high) { return {low, high}; }
__forceinline__ __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
__forceinline__ float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
constexpr __forceinline__ __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
constexpr __forceinline__ __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
constexpr __forceinline__ __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return {a.x, a.x}; }
constexpr __forceinline__ __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return {a.y, a.y}; }
constexpr __forceinline__ __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.x, b.x};
}
constexpr __forceinline__ __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.y, b.y};
}

// CUDA's constants: infinity, NaN, the smallest subnormal, the largest number, -0, 0 and 1.
inline constexpr __nv_bfloat16 CUDART_INF_BF16 = __nv_bfloat16_raw{0x7f80};
inline constexpr __nv_bfloat16 CUDART_NAN_BF16 = __nv_bfloat16_raw{0x7fff};
inline constexpr __nv_bfloat16 CUDART_MIN_DENORM_BF16 = __nv_bfloat16_raw{0x0001};
inline constexpr __nv_bfloat16 CUDART_MAX_NORMAL_BF16 = __nv_bfloat16_raw{0x7f7f};
inline constexpr __nv_bfloat16 CUDART_NEG_ZERO_BF16 = __nv_bfloat16_raw{0x8000};
inline constexpr __nv_bfloat16 CUDART_ZERO_BF16 = __nv_bfloat16_raw{0x0000};
inline constexpr __nv_bfloat16 CUDART_ONE_BF16 = __nv_bfloat16_raw{0x3f80};
