// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of __half and __nv_bfloat16: storage, conversions, operators, and the intrinsics
// that share names.
//
// Every operation converts to float, computes, and rounds to nearest even, as CUDA's own host code
// does. For + - * / and the square root, the second rounding changes nothing, because float has
// more than twice the bits plus two of either format (Figueroa, "When is double rounding
// innocuous?", 1995). Below 2^-126 float itself has fewer bits; an exhaustive comparison of
// bfloat16 products and quotients with the exact results found no difference there either. __hfma
// always rounds once. The elementary functions round the float function's result; a CPU cannot
// reproduce a GPU's approximations (hexp and similar). NaN results are 0x7fff in both formats.
#pragma once

#include "runtime/host/float_rounding.h"
#include "runtime/host/forceinline.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace kg::host {

// Base class of a 16-bit floating-point type `Self`. `Format` provides the encoding: Raw, kOne,
// kInfinity, kNan, to_float(bits) and from_float<mode>(value). The intrinsics are hidden friends:
// for a given type they are ordinary functions, found by argument-dependent lookup, so that
// `__hmul(h, 0.5f)` converts its second argument as in CUDA.
template <class Self, class Format>
struct Float16 {
 protected:
  unsigned short __x;

  static constexpr __forceinline__ Self of_bits(unsigned bits) {
    return typename Format::Raw{static_cast<unsigned short>(bits)};
  }
  template <class Int>
  Int truncated() const {
    return to_integer<Int, Rounding::zero>(Format::to_float(__x));
  }

 public:
  Float16() = default;
  constexpr Float16(const typename Format::Raw& raw) : __x(raw.x) {}
  Float16(float value) : __x(Format::template from_float<Rounding::nearest>(value)) {}
  Float16(double value) : Float16(narrow_to_odd(value)) {}
  Float16(short value) : Float16(static_cast<float>(value)) {}
  Float16(unsigned short value) : Float16(static_cast<float>(value)) {}
  Float16(int value) : Float16(integer_to_odd(value)) {}
  Float16(unsigned value) : Float16(integer_to_odd(value)) {}
  Float16(long value) : Float16(integer_to_odd(value)) {}
  Float16(unsigned long value) : Float16(integer_to_odd(value)) {}
  Float16(long long value) : Float16(integer_to_odd(value)) {}
  Float16(unsigned long long value) : Float16(integer_to_odd(value)) {}

  // Implicit, and one per type, so that overload resolution works as in CUDA.
  constexpr __forceinline__ operator typename Format::Raw() const { return {__x}; }
  constexpr operator bool() const { return (__x & 0x7fff) != 0; }
  operator float() const { return Format::to_float(__x); }
  operator char() const { return truncated<char>(); }
  operator signed char() const { return truncated<signed char>(); }
  operator unsigned char() const { return truncated<unsigned char>(); }
  operator short() const { return truncated<short>(); }
  operator unsigned short() const { return truncated<unsigned short>(); }
  operator int() const { return truncated<int>(); }
  operator unsigned() const { return truncated<unsigned>(); }
  operator long() const { return truncated<long>(); }
  operator unsigned long() const { return truncated<unsigned long>(); }
  operator long long() const { return truncated<long long>(); }
  operator unsigned long long() const { return truncated<unsigned long long>(); }

  // Arithmetic.
  friend __forceinline__ Self __hadd(Self a, Self b) { return float(a) + float(b); }
  friend __forceinline__ Self __hsub(Self a, Self b) { return float(a) - float(b); }
  friend __forceinline__ Self __hmul(Self a, Self b) { return float(a) * float(b); }
  friend __forceinline__ Self __hdiv(Self a, Self b) { return float(a) / float(b); }
  friend __forceinline__ Self __hadd_rn(Self a, Self b) { return __hadd(a, b); }
  friend __forceinline__ Self __hsub_rn(Self a, Self b) { return __hsub(a, b); }
  friend __forceinline__ Self __hmul_rn(Self a, Self b) { return __hmul(a, b); }
  friend __forceinline__ Self __hadd_sat(Self a, Self b) { return saturated(__hadd(a, b)); }
  friend __forceinline__ Self __hsub_sat(Self a, Self b) { return saturated(__hsub(a, b)); }
  friend __forceinline__ Self __hmul_sat(Self a, Self b) { return saturated(__hmul(a, b)); }
  friend __forceinline__ Self __hneg(Self a) { return -float(a); }
  friend __forceinline__ Self __habs(Self a) {
    return __hisnan(a) ? of_bits(Format::kNan) : of_bits(a.__x & 0x7fff);
  }

  // a * b + c rounded once: the product of two 11-bit significands is exact in double, and the sum
  // is rounded to odd.
  friend __forceinline__ Self __hfma(Self a, Self b, Self c) {
    return sum_to_odd(static_cast<double>(float(a)) * float(b), float(c));
  }
  friend __forceinline__ Self __hfma_sat(Self a, Self b, Self c) {
    return saturated(__hfma(a, b, c));
  }
  friend __forceinline__ Self __hfma_relu(Self a, Self b, Self c) {
    return __hmax_nan(__hfma(a, b, c), of_bits(0));
  }

  // Comparisons: false for NaN; with the suffix u, true for NaN.
  friend __forceinline__ bool __hisnan(Self a) { return (a.__x & 0x7fff) > Format::kInfinity; }
  friend __forceinline__ int __hisinf(Self a) {
    if ((a.__x & 0x7fff) != Format::kInfinity) return 0;
    return a.__x == Format::kInfinity ? 1 : -1;
  }
  friend __forceinline__ bool __heq(Self a, Self b) { return float(a) == float(b); }
  friend __forceinline__ bool __hne(Self a, Self b) {
    return float(a) < float(b) || float(a) > float(b);
  }
  friend __forceinline__ bool __hle(Self a, Self b) { return float(a) <= float(b); }
  friend __forceinline__ bool __hge(Self a, Self b) { return float(a) >= float(b); }
  friend __forceinline__ bool __hlt(Self a, Self b) { return float(a) < float(b); }
  friend __forceinline__ bool __hgt(Self a, Self b) { return float(a) > float(b); }
  friend __forceinline__ bool __hequ(Self a, Self b) { return !__hne(a, b); }
  friend __forceinline__ bool __hneu(Self a, Self b) { return !__heq(a, b); }
  friend __forceinline__ bool __hleu(Self a, Self b) { return !__hgt(a, b); }
  friend __forceinline__ bool __hgeu(Self a, Self b) { return !__hlt(a, b); }
  friend __forceinline__ bool __hltu(Self a, Self b) { return !__hge(a, b); }
  friend __forceinline__ bool __hgtu(Self a, Self b) { return !__hle(a, b); }

  // Maximum, minimum. -0 is below +0. A single NaN is ignored; with the suffix _nan it is returned.
  friend __forceinline__ Self __hmax(Self a, Self b) { return min_or_max(a, b, true); }
  friend __forceinline__ Self __hmin(Self a, Self b) { return min_or_max(a, b, false); }
  friend __forceinline__ Self __hmax_nan(Self a, Self b) {
    return __hisnan(a) || __hisnan(b) ? of_bits(Format::kNan) : __hmax(a, b);
  }
  friend __forceinline__ Self __hmin_nan(Self a, Self b) {
    return __hisnan(a) || __hisnan(b) ? of_bits(Format::kNan) : __hmin(a, b);
  }

  // Functions.
  friend __forceinline__ Self hceil(Self a) { return std::ceil(float(a)); }
  friend __forceinline__ Self hfloor(Self a) { return std::floor(float(a)); }
  friend __forceinline__ Self hrint(Self a) { return std::nearbyint(float(a)); }
  friend __forceinline__ Self htrunc(Self a) { return std::trunc(float(a)); }
  friend __forceinline__ Self hsqrt(Self a) { return std::sqrt(float(a)); }
  friend __forceinline__ Self hrsqrt(Self a) {
    return 1 / std::sqrt(static_cast<double>(float(a)));
  }
  friend __forceinline__ Self hrcp(Self a) { return 1 / float(a); }
  friend __forceinline__ Self hexp(Self a) { return std::exp(float(a)); }
  friend __forceinline__ Self hexp2(Self a) { return std::exp2(float(a)); }
  friend __forceinline__ Self hexp10(Self a) {
    return std::pow(10.0, static_cast<double>(float(a)));
  }
  friend __forceinline__ Self hlog(Self a) { return std::log(float(a)); }
  friend __forceinline__ Self hlog2(Self a) { return std::log2(float(a)); }
  friend __forceinline__ Self hlog10(Self a) { return std::log10(float(a)); }
  friend __forceinline__ Self hsin(Self a) { return std::sin(float(a)); }
  friend __forceinline__ Self hcos(Self a) { return std::cos(float(a)); }
  friend __forceinline__ Self htanh(Self a) { return std::tanh(float(a)); }
  friend __forceinline__ Self htanh_approx(Self a) { return htanh(a); }

  // Operators.
  friend __forceinline__ Self operator+(const Self& a, const Self& b) { return __hadd(a, b); }
  friend __forceinline__ Self operator-(const Self& a, const Self& b) { return __hsub(a, b); }
  friend __forceinline__ Self operator*(const Self& a, const Self& b) { return __hmul(a, b); }
  friend __forceinline__ Self operator/(const Self& a, const Self& b) { return __hdiv(a, b); }
  friend __forceinline__ Self& operator+=(Self& a, const Self& b) { return a = a + b; }
  friend __forceinline__ Self& operator-=(Self& a, const Self& b) { return a = a - b; }
  friend __forceinline__ Self& operator*=(Self& a, const Self& b) { return a = a * b; }
  friend __forceinline__ Self& operator/=(Self& a, const Self& b) { return a = a / b; }
  friend __forceinline__ Self operator+(const Self& a) { return a; }
  friend __forceinline__ Self operator-(const Self& a) { return __hneg(a); }
  friend __forceinline__ Self& operator++(Self& a) { return a += of_bits(Format::kOne); }
  friend __forceinline__ Self& operator--(Self& a) { return a -= of_bits(Format::kOne); }
  friend __forceinline__ Self operator++(Self& a, int) {
    const Self before = a;
    ++a;
    return before;
  }
  friend __forceinline__ Self operator--(Self& a, int) {
    const Self before = a;
    --a;
    return before;
  }
  friend __forceinline__ bool operator==(const Self& a, const Self& b) { return __heq(a, b); }
  friend __forceinline__ bool operator!=(const Self& a, const Self& b) { return __hneu(a, b); }
  friend __forceinline__ bool operator<(const Self& a, const Self& b) { return __hlt(a, b); }
  friend __forceinline__ bool operator>(const Self& a, const Self& b) { return __hgt(a, b); }
  friend __forceinline__ bool operator<=(const Self& a, const Self& b) { return __hle(a, b); }
  friend __forceinline__ bool operator>=(const Self& a, const Self& b) { return __hge(a, b); }

 private:
  static __forceinline__ Self saturated(Self a) {
    return __hmin(__hmax(a, of_bits(0)), of_bits(Format::kOne));
  }

  static __forceinline__ Self min_or_max(Self a, Self b, bool larger) {
    if (__hisnan(a)) a = b;
    if (__hisnan(b)) b = a;
    if (__hisnan(a)) return of_bits(Format::kNan);
    if (__heq(a, b)) return larger == (a.__x < b.__x) ? a : b; // +0 is 0x0000, -0 is 0x8000
    return larger == __hgt(a, b) ? a : b;
  }
};

} // namespace kg::host
