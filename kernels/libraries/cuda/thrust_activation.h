// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Activations and their derivatives, as a user of Thrust would write them for thrust::transform.
#pragma once

#include "libraries/activation.h"

#include <type_traits>

namespace kg::vendor::thrust_cuda {

__device__ inline float logistic(float z) { return 1 / (1 + expf(-z)); }

template <activation::Function function>
__device__ float activated(float x) {
  if constexpr (function == activation::Function::relu) return x < 0 ? 0.0F : x;
  if constexpr (function == activation::Function::sigmoid) return logistic(x);
  if constexpr (function == activation::Function::tanh) return tanhf(x);
  if constexpr (function == activation::Function::gelu) return x * normcdff(x);
  if constexpr (function == activation::Function::gelu_tanh)
    return x / (1 + expf(-1.595769122F * x * (1 + 0.044715F * x * x)));
  if constexpr (function == activation::Function::silu) return x / (1 + expf(-x));
}

template <activation::Function function>
__device__ float slope(float x) {
  if constexpr (function == activation::Function::relu) return x > 0 ? 1.0F : 0.0F;
  if constexpr (function == activation::Function::sigmoid) return logistic(x) * logistic(-x);
  if constexpr (function == activation::Function::tanh)
    return 4 * logistic(2 * x) * logistic(-2 * x);
  if constexpr (function == activation::Function::gelu)
    return normcdff(x) + x * 0.398942280F * expf(-0.5F * x * x);
  if constexpr (function == activation::Function::gelu_tanh) {
    const float z = 1.595769122F * x * (1 + 0.044715F * x * x);
    const float z_slope = 1.595769122F * (1 + 0.134145F * x * x);
    return logistic(z) * (1 + x * z_slope * logistic(-z));
  }
  if constexpr (function == activation::Function::silu) return logistic(x) * (1 + x * logistic(-x));
}

// Calls `body` with the function as a compile-time constant.
template <class Body>
void with_function(activation::Function function, Body body) {
  using activation::Function;
  switch (function) {
  case Function::relu: return body(std::integral_constant<Function, Function::relu>());
  case Function::sigmoid: return body(std::integral_constant<Function, Function::sigmoid>());
  case Function::tanh: return body(std::integral_constant<Function, Function::tanh>());
  case Function::gelu: return body(std::integral_constant<Function, Function::gelu>());
  case Function::gelu_tanh: return body(std::integral_constant<Function, Function::gelu_tanh>());
  case Function::silu: return body(std::integral_constant<Function, Function::silu>());
  }
}

} // namespace kg::vendor::thrust_cuda
