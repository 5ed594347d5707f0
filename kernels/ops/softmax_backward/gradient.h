// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels sum over a row, and the gradient of an element given that sum.
#pragma once

#include "ops/softmax/kind.h"
#include "primitives/row.h"

namespace kg::softmax_backward {

using softmax::Kind;

template <Kind kind>
__device__ inline float term(float y, float dy) {
  return kind == Kind::softmax ? y * dy : dy;
}

template <Kind kind>
__device__ inline float gradient(float y, float dy, float sum) {
  return kind == Kind::softmax ? y * (dy - sum) : dy - expf(y) * sum;
}

template <Kind kind, int Count>
__device__ inline float sum_of_terms(const Floats<Count>& y, const Floats<Count>& dy, float start) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) start += term<kind>(y.value[e], dy.value[e]);
  return start;
}

template <Kind kind, int Count>
__device__ inline Floats<Count> gradients(const Floats<Count>& y, const Floats<Count>& dy,
                                          float sum) {
  Floats<Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) result.value[e] = gradient<kind>(y.value[e], dy.value[e], sum);
  return result;
}

} // namespace kg::softmax_backward
