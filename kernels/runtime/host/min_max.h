// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// min and max in the global namespace, with the same overloads as CUDA's device code: a call that
// nvcc finds ambiguous (an int and a size_t, say) is ambiguous here too.
#pragma once

#include <cmath>

namespace kg::host {

// -0 is below +0 and a single NaN is ignored, like PTX min and max. A C library's fminf and fmaxf
// leave the sign of zero open.
template <class Float>
Float float_min(Float a, Float b) {
  if (a == b) return std::signbit(a) ? a : b;
  return a < b || std::isnan(b) ? a : b;
}
template <class Float>
Float float_max(Float a, Float b) {
  if (a == b) return std::signbit(a) ? b : a;
  return a > b || std::isnan(b) ? a : b;
}

} // namespace kg::host

// Signed with unsigned of the same width gives unsigned, as in the usual arithmetic conversions. A
// macro, because a template would accept argument pairs that CUDA rejects.
#define KG_MIN_MAX(A, B, Result)                                                                   \
  inline Result min(A a, B b) {                                                                    \
    return static_cast<Result>(a) < static_cast<Result>(b) ? static_cast<Result>(a)                \
                                                           : static_cast<Result>(b);               \
  }                                                                                                \
  inline Result max(A a, B b) {                                                                    \
    return static_cast<Result>(a) > static_cast<Result>(b) ? static_cast<Result>(a)                \
                                                           : static_cast<Result>(b);               \
  }
KG_MIN_MAX(int, int, int)
KG_MIN_MAX(unsigned, unsigned, unsigned)
KG_MIN_MAX(int, unsigned, unsigned)
KG_MIN_MAX(unsigned, int, unsigned)
KG_MIN_MAX(long, long, long)
KG_MIN_MAX(unsigned long, unsigned long, unsigned long)
KG_MIN_MAX(long, unsigned long, unsigned long)
KG_MIN_MAX(unsigned long, long, unsigned long)
KG_MIN_MAX(long long, long long, long long)
KG_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
KG_MIN_MAX(long long, unsigned long long, unsigned long long)
KG_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef KG_MIN_MAX

inline float min(float a, float b) { return kg::host::float_min(a, b); }
inline float max(float a, float b) { return kg::host::float_max(a, b); }
inline double min(double a, double b) { return kg::host::float_min(a, b); }
inline double max(double a, double b) { return kg::host::float_max(a, b); }
inline double min(float a, double b) { return kg::host::float_min<double>(a, b); }
inline double max(float a, double b) { return kg::host::float_max<double>(a, b); }
inline double min(double a, float b) { return kg::host::float_min<double>(a, b); }
inline double max(double a, float b) { return kg::host::float_max<double>(a, b); }

// Templates, so that a program may define its own.
template <class = void>
inline int imin(int a, int b) {
  return min(a, b);
}
template <class = void>
inline int imax(int a, int b) {
  return max(a, b);
}
template <class = void>
inline unsigned umin(unsigned a, unsigned b) {
  return min(a, b);
}
template <class = void>
inline unsigned umax(unsigned a, unsigned b) {
  return max(a, b);
}
template <class = void>
inline long long llmin(long long a, long long b) {
  return min(a, b);
}
template <class = void>
inline long long llmax(long long a, long long b) {
  return max(a, b);
}
template <class = void>
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return min(a, b);
}
template <class = void>
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return max(a, b);
}
