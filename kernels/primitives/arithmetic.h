// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The four arithmetic operations on two numbers of one type.
#pragma once

#include "runtime/device_code.h"

#include <type_traits>

namespace kg {

// `op` is add, sub, mul or div of the operation's enumeration. Correctly rounded in f32 and f64
// with nvcc's defaults -prec-div=true and -ftz=false.
template <auto op, class Number>
__device__ inline Number compute(Number x, Number y) {
  using Op = decltype(op);
  if constexpr (op == Op::add) return x + y;
  if constexpr (op == Op::sub) return x - y;
  if constexpr (op == Op::mul) return x * y;
  if constexpr (op == Op::div) return x / y;
}

// f16 and bf16 compute in f32 and round once; elementwise.h shows that this is correctly rounded.
// i32 wraps around: it computes as unsigned, which gives the same bits for sums, differences and
// products without undefined overflow. Division is not supported for i32.
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
