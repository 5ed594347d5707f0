// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The four operations on two numbers of one type.
#pragma once

#include "runtime/device_code.h"

#include <type_traits>

namespace kg {

// `op`: add, sub, mul or div of an operation's own enumeration; in the arithmetic of Number.
// Correctly rounded in f32 and f64, provided that the compiler does not trade the division for an
// approximation (nvcc's defaults -prec-div=true and -ftz=false).
template <auto op, class Number>
__device__ inline Number compute(Number x, Number y) {
  using Op = decltype(op);
  if constexpr (op == Op::add) return x + y;
  if constexpr (op == Op::sub) return x - y;
  if constexpr (op == Op::mul) return x * y;
  if constexpr (op == Op::div) return x / y;
}

// f16 and bf16 compute in f32 and round once; elementwise.h says why that is correctly rounded,
// too. i32 wraps around: unsigned sums, differences and products have the same bits and no
// undefined overflow; quotients have not.
template <auto op, class T>
__device__ __forceinline__ T apply(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    return compute<op>(a, b);
  } else if constexpr (std::is_same_v<T, int>) {
    static_assert(op != decltype(op)::div);
    return static_cast<int>(compute<op>(static_cast<unsigned>(a), static_cast<unsigned>(b)));
  } else {
    return from_float<T>(compute<op>(to_float(a), to_float(b)));
  }
}

} // namespace kg
