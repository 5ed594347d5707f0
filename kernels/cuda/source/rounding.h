// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Double's arithmetic, and float's quotients and roots, in the roundings that are not to nearest:
// in the CPU's own. (The other operations of float need no mode: runtime/host/float_rounding.h.)
#pragma once

#include <cfenv>
#include <cmath>
#include <functional>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace kg::foreign {

// The value, by way of memory: the compiler computes neither what it is made of nor what is made of
// it on another side of a call.
template <class Float>
Float held(Float value) {
  volatile Float stored = value;
  return stored;
}

// The CPU rounds so while it lives. float and double are SSE's on x86-64; fesetround waits for the
// old unit of floating point, too, and takes twice as long.
class Rounding {
 public:
#if defined(__x86_64__)
  explicit Rounding(int mode) {
    _mm_setcsr((before_ & ~unsigned{_MM_ROUND_MASK}) | unsigned(mode) << 3);
  }
  ~Rounding() { _mm_setcsr(before_); }

 private:
  const unsigned before_ = _mm_getcsr();
#else
  explicit Rounding(int mode) { std::fesetround(mode); }
  ~Rounding() { std::fesetround(FE_TONEAREST); }
#endif
};

template <int mode, class Operation, class... Floats>
auto rounded(Operation operation, Floats... operands) {
  const Rounding rounding(mode);
  return held(operation(held(operands)...));
}

struct SquareRoot {
  template <class Float>
  Float operator()(Float a) const {
    return std::sqrt(a);
  }
};
struct FusedMultiplyAdd {
  double operator()(double a, double b, double c) const { return std::fma(a, b, c); }
};

} // namespace kg::foreign

// A macro, because only it can make the names.
#define KG_ROUNDED_ARITHMETIC(suffix, mode)                                                        \
  inline double __dadd_##suffix(double a, double b) {                                              \
    return kg::foreign::rounded<mode>(std::plus<>(), a, b);                                        \
  }                                                                                                \
  inline double __dsub_##suffix(double a, double b) {                                              \
    return kg::foreign::rounded<mode>(std::minus<>(), a, b);                                       \
  }                                                                                                \
  inline double __dmul_##suffix(double a, double b) {                                              \
    return kg::foreign::rounded<mode>(std::multiplies<>(), a, b);                                  \
  }                                                                                                \
  inline double __fma_##suffix(double a, double b, double c) {                                     \
    return kg::foreign::rounded<mode>(kg::foreign::FusedMultiplyAdd(), a, b, c);                   \
  }                                                                                                \
  inline double __ddiv_##suffix(double a, double b) {                                              \
    return kg::foreign::rounded<mode>(std::divides<>(), a, b);                                     \
  }                                                                                                \
  inline double __drcp_##suffix(double a) { return __ddiv_##suffix(1, a); }                        \
  inline double __dsqrt_##suffix(double a) {                                                       \
    return kg::foreign::rounded<mode>(kg::foreign::SquareRoot(), a);                               \
  }                                                                                                \
  inline float __fdiv_##suffix(float a, float b) {                                                 \
    return kg::foreign::rounded<mode>(std::divides<>(), a, b);                                     \
  }                                                                                                \
  inline float __frcp_##suffix(float a) { return __fdiv_##suffix(1, a); }                          \
  inline float __fsqrt_##suffix(float a) {                                                         \
    return kg::foreign::rounded<mode>(kg::foreign::SquareRoot(), a);                               \
  }
KG_ROUNDED_ARITHMETIC(rz, FE_TOWARDZERO)
KG_ROUNDED_ARITHMETIC(rd, FE_DOWNWARD)
KG_ROUNDED_ARITHMETIC(ru, FE_UPWARD)
#undef KG_ROUNDED_ARITHMETIC
