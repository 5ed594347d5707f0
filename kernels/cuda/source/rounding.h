// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Directed rounding for double arithmetic and for float division and square root, by the CPU's
// rounding modes. (The other float operations need no mode: runtime/host/float_rounding.h.)
#pragma once

#include "runtime/host/cpu_rounding.h"

#include <cfenv>
#include <cmath>
#include <functional>

namespace kg::foreign {

template <int mode, class Operation, class... Floats>
auto rounded(Operation operation, Floats... operands) {
  return host::rounded(mode, operation, operands...);
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

// A macro, because the names of the functions are generated.
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
