// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic in the CPU's own rounding modes: double's, and float's quotients and roots. (The other
// operations of float need no mode: float_rounding.h.)
#pragma once

#include <cfenv>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace kg::host {

// The value, by way of memory: the compiler computes neither what it is made of nor what is made of
// it on another side of a call.
template <class Float>
Float held(Float value) {
  volatile Float stored = value;
  return stored;
}

// The CPU rounds in this mode (FE_UPWARD, ...) while it lives. float and double are SSE's on
// x86-64; fesetround also waits for the old unit of floating point, and takes twice as long.
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
