// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's single-thread floating-point device functions that <cmath> lacks, for the host backend, in
// the global namespace: fast functions (__expf), functions with the rounding in their name
// (__fmul_rz) and conversions (__float2int_rn).
//
// This header also makes the functions of <math.h>, and min and max, usable without std::.
#pragma once

#include "runtime/host/float_rounding.h"
#include "runtime/host/intrinsics_bits.h"
#include "runtime/host/min_max.h"

#include <math.h>
#include <numbers>
#include <stdlib.h>

// Some C libraries declare some of these reserved names in <math.h>; a definition must then repeat
// noexcept.

// Fast functions. A CPU cannot reproduce a GPU's approximations, so these compute the accurate
// function. As a result, __fdividef does not return 0 for divisors above 2^126, and __sinf stays
// accurate far from 0.
inline float __expf(float a) noexcept { return std::exp(a); }
inline float __exp10f(float a) noexcept {
  return static_cast<float>(std::pow(10.0, static_cast<double>(a)));
}
inline float __logf(float a) noexcept { return std::log(a); }
inline float __log2f(float a) noexcept { return std::log2(a); }
inline float __log10f(float a) noexcept { return std::log10(a); }
inline float __sinf(float a) noexcept { return std::sin(a); }
inline float __cosf(float a) noexcept { return std::cos(a); }
inline float __tanf(float a) noexcept { return std::tan(a); }
inline void __sincosf(float a, float* sine, float* cosine) noexcept {
  *sine = std::sin(a);
  *cosine = std::cos(a);
}
inline float __powf(float a, float b) noexcept { return std::pow(a, b); }
inline float __tanhf(float a) noexcept { return std::tanh(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }

// a clamped to [0, 1]; NaN gives 0.
inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }

// Functions beyond C. Float results are rounded from double, so their error is at most 0.5001 units
// in the last place.
inline double rsqrt(double a) noexcept { return 1 / std::sqrt(a); }
inline float rsqrtf(float a) noexcept {
  return static_cast<float>(1 / std::sqrt(static_cast<double>(a)));
}
inline double rcbrt(double a) noexcept { return 1 / std::cbrt(a); }
inline float rcbrtf(float a) noexcept {
  return static_cast<float>(1 / std::cbrt(static_cast<double>(a)));
}

// sin and cos of pi times a, exact at multiples of 1/2. The argument is reduced to [-1, 1], then to
// [-1/2, 1/2], both without rounding. The exception is 1/2 - |x|, which may round in cospi, where
// its sine is flat.
inline double sinpi(double a) noexcept {
  double x = std::remainder(a, 2.0);
  if (std::fabs(x) > 0.5) x = std::copysign(1.0, x) - x;
  return std::sin(std::numbers::pi * x);
}
inline double cospi(double a) noexcept {
  return std::sin(std::numbers::pi * (0.5 - std::fabs(std::remainder(a, 2.0))));
}
inline float sinpif(float a) noexcept { return static_cast<float>(sinpi(static_cast<double>(a))); }
inline float cospif(float a) noexcept { return static_cast<float>(cospi(static_cast<double>(a))); }

// The cumulative distribution function of the normal distribution.
inline double normcdf(double a) { return 0.5 * std::erfc(-a / std::numbers::sqrt2); }
inline float normcdff(float a) { return static_cast<float>(normcdf(static_cast<double>(a))); }

namespace kg::host {

// Prevents contraction of a product with the following sum, as CUDA's __fmul_rn and __fadd_rn
// promise. g++ fuses across calls by default (-ffp-contract=fast); clang only within an expression,
// so a call is enough there.
template <class Float>
Float unfused(Float value) {
#if defined(__clang__)
  return value;
#elif __has_builtin(__builtin_assoc_barrier)
  return __builtin_assoc_barrier(value);
#else // g++ before 12: a volatile load prevents contraction
  volatile Float stored = value;
  return stored;
#endif
}

} // namespace kg::host

// Correctly rounded arithmetic, never fused. Division, roots and all double operations support
// round-to-nearest only.
inline float __fadd_rn(float a, float b) { return kg::host::unfused(a) + kg::host::unfused(b); }
inline float __fsub_rn(float a, float b) { return kg::host::unfused(a) - kg::host::unfused(b); }
inline float __fmul_rn(float a, float b) { return kg::host::unfused(a * b); }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1 / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }
inline double __dadd_rn(double a, double b) { return kg::host::unfused(a) + kg::host::unfused(b); }
inline double __dsub_rn(double a, double b) { return kg::host::unfused(a) - kg::host::unfused(b); }
inline double __dmul_rn(double a, double b) { return kg::host::unfused(a * b); }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __drcp_rn(double a) { return 1 / a; }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }

// Float arithmetic in the other rounding modes. A macro, to generate the names.
#define KG_FLOAT_ARITHMETIC(suffix, mode)                                                          \
  inline float __fadd_##suffix(float a, float b) {                                                 \
    return kg::host::rounded_sum<kg::host::Rounding::mode>(a, b);                                  \
  }                                                                                                \
  inline float __fsub_##suffix(float a, float b) {                                                 \
    return kg::host::rounded_sum<kg::host::Rounding::mode>(a, -static_cast<double>(b));            \
  }                                                                                                \
  inline float __fmul_##suffix(float a, float b) {                                                 \
    return kg::host::narrow<kg::host::Rounding::mode>(static_cast<double>(a) * b);                 \
  }                                                                                                \
  inline float __fmaf_##suffix(float a, float b, float c) {                                        \
    return kg::host::rounded_sum<kg::host::Rounding::mode>(static_cast<double>(a) * b, c);         \
  }                                                                                                \
  inline float __double2float_##suffix(double a) {                                                 \
    return kg::host::narrow<kg::host::Rounding::mode>(a);                                          \
  }
KG_FLOAT_ARITHMETIC(rz, zero)
KG_FLOAT_ARITHMETIC(rd, down)
KG_FLOAT_ARITHMETIC(ru, up)
#undef KG_FLOAT_ARITHMETIC
inline float __double2float_rn(double a) { return static_cast<float>(a); }

// Conversions between integer types and float or double, in the four rounding modes.
#define KG_CONVERSIONS(name, Type, suffix, mode)                                                   \
  inline Type __float2##name##_##suffix(float a) {                                                 \
    return kg::host::to_integer<Type, kg::host::Rounding::mode>(a);                                \
  }                                                                                                \
  inline Type __double2##name##_##suffix(double a) {                                               \
    return kg::host::to_integer<Type, kg::host::Rounding::mode>(a);                                \
  }                                                                                                \
  inline float __##name##2float_##suffix(Type a) {                                                 \
    return kg::host::narrow<kg::host::Rounding::mode>(kg::host::integer_to_odd(a));                \
  }
#define KG_CONVERSIONS_OF(name, Type)                                                              \
  KG_CONVERSIONS(name, Type, rn, nearest)                                                          \
  KG_CONVERSIONS(name, Type, rz, zero)                                                             \
  KG_CONVERSIONS(name, Type, rd, down)                                                             \
  KG_CONVERSIONS(name, Type, ru, up)                                                               \
  inline double __##name##2double_rn(Type a) { return static_cast<double>(a); }
KG_CONVERSIONS_OF(int, int)
KG_CONVERSIONS_OF(uint, unsigned)
KG_CONVERSIONS_OF(ll, long long)
KG_CONVERSIONS_OF(ull, unsigned long long)
#undef KG_CONVERSIONS_OF
#undef KG_CONVERSIONS
