// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The four operations on two numbers of one type.
#pragma once

#include "runtime/device_code.h"

namespace kg {

// `op`: add, sub, mul or div of an operation's own enumeration. Correctly rounded in f32, provided
// that the compiler does not trade the division for an approximation (nvcc's defaults
// -prec-div=true and -ftz=false). f16 and bf16 compute in f32 and round once; elementwise.h says
// why that is correctly rounded, too.
template <auto op, class T>
__device__ inline T apply(T a, T b) {
  using Op = decltype(op);
  const float x = to_float(a);
  const float y = to_float(b);
  if constexpr (op == Op::add) return from_float<T>(x + y);
  if constexpr (op == Op::sub) return from_float<T>(x - y);
  if constexpr (op == Op::mul) return from_float<T>(x * y);
  if constexpr (op == Op::div) return from_float<T>(x / y);
}

} // namespace kg
