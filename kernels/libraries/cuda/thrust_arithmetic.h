// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on two elements, as a user of Thrust would write it for thrust::transform.
#pragma once

#include "libraries/cuda/thrust.h"
#include "ops/elementwise/op.h"

namespace kg::vendor::thrust_cuda {

template <elementwise::Op op, class T>
struct Combine {
  __device__ T operator()(T a, T b) const {
    const float x = widen(a);
    const float y = widen(b);
    if constexpr (op == elementwise::Op::add) return narrow<T>(x + y);
    if constexpr (op == elementwise::Op::sub) return narrow<T>(x - y);
    if constexpr (op == elementwise::Op::mul) return narrow<T>(x * y);
    if constexpr (op == elementwise::Op::div) return narrow<T>(x / y);
  }
};

// Calls `body` with the function object for `op`.
template <class T, class Body>
void with_combine(elementwise::Op op, Body body) {
  switch (op) {
  case elementwise::Op::add: return body(Combine<elementwise::Op::add, T>());
  case elementwise::Op::sub: return body(Combine<elementwise::Op::sub, T>());
  case elementwise::Op::mul: return body(Combine<elementwise::Op::mul, T>());
  case elementwise::Op::div: return body(Combine<elementwise::Op::div, T>());
  }
}

} // namespace kg::vendor::thrust_cuda
