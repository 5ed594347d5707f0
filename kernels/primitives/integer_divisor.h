// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Division of many f32 by one whole number N: three operations and a choice where nvcc makes about
// twelve of an IEEE division, and the same bits.
//
// With r = 1/N within two units in its last place (__fdividef) and q = s r, q is within five units
// of s/N, and s - q N, a multiple of such a unit because N is whole, has few enough bits to be
// exact. What is added to q, (s - q N) r, thus errs by 5 x 2^-22 of a unit at most, while s/N,
// unless it is itself a number of f32, is at least 1/(4 N) of a unit off the midpoint of two of
// them (s and N times that midpoint are multiples of half a unit, or of a quarter where a power of
// two lies between): the sum is rounded as s/N is. After Markstein, "Computation of elementary
// functions on the IBM RISC System/6000", 1990, where N may be any number. A midpoint itself can
// only be met among subnormal quotients, which may be off by the least subnormal number; beyond
// kMostExact quotients may be off by a unit.
#pragma once

#include "runtime/device_code.h"

#include <cmath>

namespace kg {

struct WholeDivisor {
  static constexpr int kMostExact = 1 << 15;

  float value = 1;
  float reciprocal = 1;

  WholeDivisor() = default;

  // A whole number >= 1. In the body, which nvcc leaves out of the host's code: that has no
  // __fdividef.
  __device__ explicit WholeDivisor(float divisor) : value(divisor) {
    reciprocal = __fdividef(1.0f, divisor);
  }

  // dividend / value. Of an infinity the rest is NaN, and of a zero it would lose the sign.
  __device__ float quotient(float dividend) const {
    const float close = dividend * reciprocal;
    const float rest = fmaf(-close, value, dividend);
    return fabsf(rest) > 0 ? fmaf(rest, reciprocal, close) : close;
  }
};

} // namespace kg
