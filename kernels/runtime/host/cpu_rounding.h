// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic in the CPU's rounding modes, for double, and for division and square root in float.
// The other float operations need no rounding mode: float_rounding.h.
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace kg::host {

// Passes the value through memory, so that the compiler cannot move computations of the value, or
// with it, across a call.
template <class Float>
Float held(Float value) {
  volatile Float stored = value;
  return stored;
}

// Sets the CPU's rounding mode (FE_UPWARD, ...) for its lifetime. On x86-64, float and double use
// SSE only; fesetround also synchronizes the x87 unit and takes twice as long.
class CpuRounding {
 public:
#if defined(__x86_64__)
  explicit CpuRounding(int mode) {
    _mm_setcsr((before_ & ~unsigned{_MM_ROUND_MASK}) | unsigned(mode) << 3);
  }
  ~CpuRounding() { _mm_setcsr(before_); }

 private:
  const unsigned before_ = _mm_getcsr();
#else
  explicit CpuRounding(int mode) { std::fesetround(mode); }
  ~CpuRounding() { std::fesetround(FE_TONEAREST); }
#endif
};

template <class Operation, class... Floats>
auto rounded(int mode, Operation operation, Floats... operands) {
  const CpuRounding rounding(mode);
  return held(operation(held(operands)...));
}

} // namespace kg::host
