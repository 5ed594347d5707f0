// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// __half and __half2 for the host backend: the types, conversions and names of CUDA's cuda_fp16.h,
// bit for bit, without a toolkit. The arithmetic is in float16.h and float16_pair.h.
#pragma once

#include "runtime/host/float16.h"
#include "runtime/host/float16_pair.h"
#include "runtime/host/forceinline.h"
#include "runtime/host/vector_types.h"

#include <bit>
#include <cstdint>

// Just the bits, as an aggregate.
struct alignas(2) __half_raw {
  unsigned short x;
};
struct alignas(4) __half2_raw {
  unsigned short x, y;
};

struct __nv_bfloat16;

namespace kg::host {

#if defined(__F16C__)
// Vector types for the F16C conversions. <immintrin.h>, which declares them, would add 50,000 lines
// to every kernel.
using Halves = short __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(16)));
#endif

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits, bias 15.
struct Binary16 {
  using Raw = __half_raw;
  static constexpr unsigned short kOne = 0x3c00;
  static constexpr unsigned short kInfinity = 0x7c00;
  static constexpr unsigned short kNan = 0x7fff;

  // Exact. Every NaN becomes 0x7fffffff.
  static float to_float(unsigned short bits) {
    if ((bits & 0x7fff) > kInfinity) return std::bit_cast<float>(0x7fffffffu);
#if defined(__F16C__)
    const Halves halves = {static_cast<short>(bits)};
    return __builtin_ia32_vcvtph2ps(halves)[0];
#else
    return to_float_portable(bits);
#endif
  }

  template <Rounding mode>
  static unsigned short from_float(float value) {
#if defined(__F16C__)
    if constexpr (mode == Rounding::nearest) {
      if (value != value) return kNan;
      const Floats floats = {value};
      constexpr int kToNearest = 0;
      const Halves halves = __builtin_ia32_vcvtps2ph(floats, kToNearest);
      return static_cast<unsigned short>(halves[0]);
    }
#endif
    return from_float_portable<mode>(value);
  }

  // For numbers and infinities, in builds without F16C and in tests that compare the two
  // implementations.
  static float to_float_portable(unsigned short bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= kInfinity) return std::bit_cast<float>(sign | 0x7f800000u);
    // The fraction shifted to float's position reads as the value times 2^(15 - 127), for
    // subnormals too.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | sign);
  }

  template <Rounding mode>
  static unsigned short from_float_portable(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return kNan;
    if (magnitude == 0x7f800000u) return static_cast<unsigned short>(sign | kInfinity);

    std::uint32_t kept; // magnitude rounded towards zero, in units of the last place of half
    std::uint32_t
        dropped; // remainder, as a fraction of one unit times 2^32, or any value below a half
    if (magnitude >=
        0x47800000u) { // 2^16 and above: beyond the largest half by at least half a unit
      kept = 0x7bff;
      dropped = 0x80000000u;
    } else if (magnitude >= 0x38800000u) { // 2^-14 and above: normal
      kept = (magnitude >> 13) - ((127 - 15) << 10);
      dropped = magnitude << 19;
    } else if (magnitude >= 0x33000000u) { // 2^-25 and above: subnormal, in units of 2^-24
      const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
      const std::uint32_t shift = 126 - (magnitude >> 23); // 14 to 24
      kept = significand >> shift;
      dropped = significand << (32 - shift);
    } else {
      kept = 0;
      dropped = magnitude == 0 ? 0 : 1;
    }

    bool up = false;
    if constexpr (mode == Rounding::nearest) {
      up = dropped > 0x80000000u || (dropped == 0x80000000u && (kept & 1) != 0);
    } else if constexpr (mode == Rounding::down) {
      up = dropped != 0 && sign != 0;
    } else if constexpr (mode == Rounding::up) {
      up = dropped != 0 && sign == 0;
    }
    return static_cast<unsigned short>(sign | (kept + (up ? 1 : 0)));
  }
};

} // namespace kg::host

struct __half : kg::host::Float16<__half, kg::host::Binary16> {
  using Float16::Float16;
  __half() = default;
  explicit __half(const __nv_bfloat16& value); // defined in bfloat16.h
};

struct __half2 : kg::host::Float16Pair<__half2, __half, __half2_raw, __half_raw> {
  using Float16Pair::Float16Pair;
  __half2() = default;
};

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using __nv_half_raw = __half_raw;
using __nv_half2_raw = __half2_raw;

// Bit casts between half and integers.
constexpr __forceinline__ unsigned short __half_as_ushort(__half a) { return __half_raw(a).x; }
constexpr __forceinline__ short __half_as_short(__half a) {
  return static_cast<short>(__half_raw(a).x);
}
constexpr __forceinline__ __half __ushort_as_half(unsigned short bits) { return __half_raw{bits}; }
constexpr __forceinline__ __half __short_as_half(short bits) {
  return __half_raw{static_cast<unsigned short>(bits)};
}

// Conversions from and to float; the suffix is the rounding mode.
__forceinline__ float __half2float(__half a) { return a; }
__forceinline__ __half __double2half(double a) { return a; }
__forceinline__ __half __float2half(float a) { return a; }
__forceinline__ __half __float2half_rn(float a) { return a; }
__forceinline__ __half __float2half_rz(float a) {
  return __half_raw{kg::host::Binary16::from_float<kg::host::Rounding::zero>(a)};
}
__forceinline__ __half __float2half_rd(float a) {
  return __half_raw{kg::host::Binary16::from_float<kg::host::Rounding::down>(a)};
}
__forceinline__ __half __float2half_ru(float a) {
  return __half_raw{kg::host::Binary16::from_float<kg::host::Rounding::up>(a)};
}

// Conversions from and to an integer type, in the four rounding modes. A macro, to generate names.
#define KG_HALF_INTEGER(name, Type)                                                                \
  __forceinline__ Type __half2##name##_rn(__half a) {                                              \
    return kg::host::to_integer<Type, kg::host::Rounding::nearest>(float(a));                      \
  }                                                                                                \
  __forceinline__ Type __half2##name##_rz(__half a) {                                              \
    return kg::host::to_integer<Type, kg::host::Rounding::zero>(float(a));                         \
  }                                                                                                \
  __forceinline__ Type __half2##name##_rd(__half a) {                                              \
    return kg::host::to_integer<Type, kg::host::Rounding::down>(float(a));                         \
  }                                                                                                \
  __forceinline__ Type __half2##name##_ru(__half a) {                                              \
    return kg::host::to_integer<Type, kg::host::Rounding::up>(float(a));                           \
  }                                                                                                \
  __forceinline__ __half __##name##2half_rn(Type a) { return a; }                                  \
  __forceinline__ __half __##name##2half_rz(Type a) {                                              \
    return __float2half_rz(kg::host::narrow_to_odd(kg::host::integer_to_odd(a)));                  \
  }                                                                                                \
  __forceinline__ __half __##name##2half_rd(Type a) {                                              \
    return __float2half_rd(kg::host::narrow_to_odd(kg::host::integer_to_odd(a)));                  \
  }                                                                                                \
  __forceinline__ __half __##name##2half_ru(Type a) {                                              \
    return __float2half_ru(kg::host::narrow_to_odd(kg::host::integer_to_odd(a)));                  \
  }
KG_HALF_INTEGER(short, short)
KG_HALF_INTEGER(ushort, unsigned short)
KG_HALF_INTEGER(int, int)
KG_HALF_INTEGER(uint, unsigned)
KG_HALF_INTEGER(ll, long long)
KG_HALF_INTEGER(ull, unsigned long long)
#undef KG_HALF_INTEGER
__forceinline__ signed char __half2char_rz(__half a) { return static_cast<signed char>(a); }
__forceinline__ unsigned char __half2uchar_rz(__half a) { return static_cast<unsigned char>(a); }

// Packing and unpacking pairs of floats and halves.
constexpr __forceinline__ __half2 make_half2(__half x, __half y) { return {x, y}; }
constexpr __forceinline__ __half2 __halves2half2(__half low, __half high) { return {low, high}; }
constexpr __forceinline__ __half2 __half2half2(__half a) { return {a, a}; }
__forceinline__ __half2 __float2half2_rn(float a) { return {a, a}; }
__forceinline__ __half2 __floats2half2_rn(float low, float high) { return {low, high}; }
__forceinline__ __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
__forceinline__ float2 __half22float2(__half2 a) { return {a.x, a.y}; }
constexpr __forceinline__ __half __low2half(__half2 a) { return a.x; }
constexpr __forceinline__ __half __high2half(__half2 a) { return a.y; }
constexpr __forceinline__ __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
constexpr __forceinline__ __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
constexpr __forceinline__ __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
constexpr __forceinline__ __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }

// CUDA's constants: infinity, NaN, the smallest subnormal, the largest number, -0, 0 and 1.
inline constexpr __half CUDART_INF_FP16 = __half_raw{0x7c00};
inline constexpr __half CUDART_NAN_FP16 = __half_raw{0x7fff};
inline constexpr __half CUDART_MIN_DENORM_FP16 = __half_raw{0x0001};
inline constexpr __half CUDART_MAX_NORMAL_FP16 = __half_raw{0x7bff};
inline constexpr __half CUDART_NEG_ZERO_FP16 = __half_raw{0x8000};
inline constexpr __half CUDART_ZERO_FP16 = __half_raw{0x0000};
inline constexpr __half CUDART_ONE_FP16 = __half_raw{0x3c00};
