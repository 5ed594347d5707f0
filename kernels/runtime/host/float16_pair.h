// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of __half2 and __nv_bfloat162: two 16-bit values in one aligned 32-bit word, and
// the intrinsics on both values at once (names with a 2), each defined by its scalar counterpart.
#pragma once

#include "runtime/host/float16.h"
#include "runtime/host/forceinline.h"
#include "runtime/host/vector_types.h"

namespace kg::host {

// Base class of a pair `Self` of `Scalar`: x is the low half of the word, y the high half. As in
// Float16, the intrinsics are hidden friends, found by argument-dependent lookup.
template <class Self, class Scalar, class RawPair, class RawScalar>
struct alignas(4) Float16Pair {
  Scalar x, y;

  Float16Pair() = default;
  constexpr Float16Pair(const Scalar& low, const Scalar& high) : x(low), y(high) {}
  constexpr Float16Pair(const RawPair& raw) : x(RawScalar{raw.x}), y(RawScalar{raw.y}) {}
  constexpr __forceinline__ operator RawPair() const { return {RawScalar(x).x, RawScalar(y).x}; }

  friend __forceinline__ float __low2float(Self a) { return a.x; }
  friend __forceinline__ float __high2float(Self a) { return a.y; }
  friend __forceinline__ Self __lowhigh2highlow(Self a) { return {a.y, a.x}; }

  // Arithmetic.
  friend __forceinline__ Self __hadd2(Self a, Self b) {
    return {__hadd(a.x, b.x), __hadd(a.y, b.y)};
  }
  friend __forceinline__ Self __hsub2(Self a, Self b) {
    return {__hsub(a.x, b.x), __hsub(a.y, b.y)};
  }
  friend __forceinline__ Self __hmul2(Self a, Self b) {
    return {__hmul(a.x, b.x), __hmul(a.y, b.y)};
  }
  friend __forceinline__ Self __h2div(Self a, Self b) {
    return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)};
  }
  friend __forceinline__ Self __hadd2_rn(Self a, Self b) { return __hadd2(a, b); }
  friend __forceinline__ Self __hsub2_rn(Self a, Self b) { return __hsub2(a, b); }
  friend __forceinline__ Self __hmul2_rn(Self a, Self b) { return __hmul2(a, b); }
  friend __forceinline__ Self __hadd2_sat(Self a, Self b) {
    return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)};
  }
  friend __forceinline__ Self __hsub2_sat(Self a, Self b) {
    return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)};
  }
  friend __forceinline__ Self __hmul2_sat(Self a, Self b) {
    return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)};
  }
  friend __forceinline__ Self __hneg2(Self a) { return {__hneg(a.x), __hneg(a.y)}; }
  friend __forceinline__ Self __habs2(Self a) { return {__habs(a.x), __habs(a.y)}; }
  friend __forceinline__ Self __hfma2(Self a, Self b, Self c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
  }
  friend __forceinline__ Self __hfma2_sat(Self a, Self b, Self c) {
    return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
  }
  friend __forceinline__ Self __hfma2_relu(Self a, Self b, Self c) {
    return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
  }
  // Complex multiply-add, (x, y) = (real, imaginary); each of the four steps is rounded.
  friend __forceinline__ Self __hcmadd(Self a, Self b, Self c) {
    return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),
            __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};
  }
  friend __forceinline__ Self __hmax2(Self a, Self b) {
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
  }
  friend __forceinline__ Self __hmin2(Self a, Self b) {
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
  }
  friend __forceinline__ Self __hmax2_nan(Self a, Self b) {
    return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)};
  }
  friend __forceinline__ Self __hmin2_nan(Self a, Self b) {
    return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)};
  }
  friend __forceinline__ Self __hisnan2(Self a) { return ones_where(__hisnan(a.x), __hisnan(a.y)); }

// Each comparison in three forms: 1 or 0 in each half (__heq2), true if it holds in both halves
// (__hbeq2), and 0xffff or 0 in each half (__heq2_mask). A macro, to generate the names.
#define KG_COMPARISON(name)                                                                        \
  friend __forceinline__ Self __h##name##2(Self a, Self b) {                                       \
    return ones_where(__h##name(a.x, b.x), __h##name(a.y, b.y));                                   \
  }                                                                                                \
  friend __forceinline__ bool __hb##name##2(Self a, Self b) {                                      \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                             \
  }                                                                                                \
  friend __forceinline__ unsigned __h##name##2_mask(Self a, Self b) {                              \
    return (__h##name(a.x, b.x) ? 0x0000ffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);    \
  }
  KG_COMPARISON(eq)
  KG_COMPARISON(ne)
  KG_COMPARISON(le)
  KG_COMPARISON(ge)
  KG_COMPARISON(lt)
  KG_COMPARISON(gt)
  KG_COMPARISON(equ)
  KG_COMPARISON(neu)
  KG_COMPARISON(leu)
  KG_COMPARISON(geu)
  KG_COMPARISON(ltu)
  KG_COMPARISON(gtu)
#undef KG_COMPARISON

  // Functions.
  friend __forceinline__ Self h2ceil(Self a) { return {hceil(a.x), hceil(a.y)}; }
  friend __forceinline__ Self h2floor(Self a) { return {hfloor(a.x), hfloor(a.y)}; }
  friend __forceinline__ Self h2rint(Self a) { return {hrint(a.x), hrint(a.y)}; }
  friend __forceinline__ Self h2trunc(Self a) { return {htrunc(a.x), htrunc(a.y)}; }
  friend __forceinline__ Self h2sqrt(Self a) { return {hsqrt(a.x), hsqrt(a.y)}; }
  friend __forceinline__ Self h2rsqrt(Self a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }
  friend __forceinline__ Self h2rcp(Self a) { return {hrcp(a.x), hrcp(a.y)}; }
  friend __forceinline__ Self h2exp(Self a) { return {hexp(a.x), hexp(a.y)}; }
  friend __forceinline__ Self h2exp2(Self a) { return {hexp2(a.x), hexp2(a.y)}; }
  friend __forceinline__ Self h2exp10(Self a) { return {hexp10(a.x), hexp10(a.y)}; }
  friend __forceinline__ Self h2log(Self a) { return {hlog(a.x), hlog(a.y)}; }
  friend __forceinline__ Self h2log2(Self a) { return {hlog2(a.x), hlog2(a.y)}; }
  friend __forceinline__ Self h2log10(Self a) { return {hlog10(a.x), hlog10(a.y)}; }
  friend __forceinline__ Self h2sin(Self a) { return {hsin(a.x), hsin(a.y)}; }
  friend __forceinline__ Self h2cos(Self a) { return {hcos(a.x), hcos(a.y)}; }
  friend __forceinline__ Self h2tanh(Self a) { return {htanh(a.x), htanh(a.y)}; }
  friend __forceinline__ Self h2tanh_approx(Self a) { return h2tanh(a); }

  // Operators; a comparison is true if it holds in both halves.
  friend __forceinline__ Self operator+(const Self& a, const Self& b) { return __hadd2(a, b); }
  friend __forceinline__ Self operator-(const Self& a, const Self& b) { return __hsub2(a, b); }
  friend __forceinline__ Self operator*(const Self& a, const Self& b) { return __hmul2(a, b); }
  friend __forceinline__ Self operator/(const Self& a, const Self& b) { return __h2div(a, b); }
  friend __forceinline__ Self& operator+=(Self& a, const Self& b) { return a = a + b; }
  friend __forceinline__ Self& operator-=(Self& a, const Self& b) { return a = a - b; }
  friend __forceinline__ Self& operator*=(Self& a, const Self& b) { return a = a * b; }
  friend __forceinline__ Self& operator/=(Self& a, const Self& b) { return a = a / b; }
  friend __forceinline__ Self operator+(const Self& a) { return a; }
  friend __forceinline__ Self operator-(const Self& a) { return __hneg2(a); }
  friend __forceinline__ bool operator==(const Self& a, const Self& b) { return __hbeq2(a, b); }
  friend __forceinline__ bool operator!=(const Self& a, const Self& b) { return __hbneu2(a, b); }
  friend __forceinline__ bool operator<(const Self& a, const Self& b) { return __hblt2(a, b); }
  friend __forceinline__ bool operator>(const Self& a, const Self& b) { return __hbgt2(a, b); }
  friend __forceinline__ bool operator<=(const Self& a, const Self& b) { return __hble2(a, b); }
  friend __forceinline__ bool operator>=(const Self& a, const Self& b) { return __hbge2(a, b); }

 private:
  static __forceinline__ Self ones_where(bool low, bool high) {
    return {Scalar(low ? 1.0f : 0.0f), Scalar(high ? 1.0f : 0.0f)};
  }
};

} // namespace kg::host
