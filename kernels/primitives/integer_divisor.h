// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Division of f32 numbers by one integer N: three operations and a select instead of about twelve
// for an IEEE division, with the same bits.
//
// With r = 1/N within two units in its last place (__fdividef) and q = s r, q is within five units
// of s/N. s - q N is a multiple of that unit, since N is an integer, and has few enough bits to be
// exact. The correction (s - q N) r therefore has an error of at most 5 x 2^-22 units. The sum
// rounds like s/N: unless s/N is an f32 number, it is at least 1/(4 N) units from the midpoint of
// two f32 numbers, as s and N times the midpoint are multiples of half a unit (a quarter next to a
// power of two). After Markstein, "Computation of elementary functions on the IBM RISC
// System/6000", 1990, where N is any number. Exact midpoints occur only among subnormal quotients,
// which may be off by the smallest subnormal. Beyond kMostExact, quotients may be off by one unit.
#pragma once

#include "runtime/device_code.h"

#include <cmath>

namespace kg {

struct WholeDivisor {
  static constexpr int kMostExact = 1 << 15;

  float value = 1;
  float reciprocal = 1;

  WholeDivisor() = default;

  // divisor: an integer >= 1. __fdividef is called in the body, which nvcc omits from host code.
  __device__ explicit WholeDivisor(float divisor) : value(divisor) {
    reciprocal = __fdividef(1.0f, divisor);
  }

  // dividend / value. No correction for infinities (rest is NaN) and zeros (keeps the sign).
  __device__ float quotient(float dividend) const {
    const float close = dividend * reciprocal;
    const float rest = fmaf(-close, value, dividend);
    return fabsf(rest) > 0 ? fmaf(rest, reciprocal, close) : close;
  }
};

} // namespace kg
