// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's elementwise primitives. Backward ones need the forward description as a hint.
#pragma once

#include "libraries/activation.h"
#include "libraries/host/onednn.h"

namespace kg::vendor::onednn {

inline dnnl::algorithm algorithm_of(activation::Function function) {
  using dnnl::algorithm;
  switch (function) {
  case activation::Function::relu: return algorithm::eltwise_relu;
  case activation::Function::sigmoid: return algorithm::eltwise_logistic;
  case activation::Function::tanh: return algorithm::eltwise_tanh;
  case activation::Function::gelu: return algorithm::eltwise_gelu_erf;
  case activation::Function::gelu_tanh: return algorithm::eltwise_gelu_tanh;
  case activation::Function::silu: return algorithm::eltwise_swish;
  }
  return algorithm::undef;
}

// relu's slope below 0, or the factor of swish's argument. Other functions have no parameter.
inline float parameter_of(activation::Function function) {
  return function == activation::Function::silu ? 1.0F : 0.0F;
}

inline dnnl::eltwise_forward::primitive_desc
make_eltwise(dnnl::prop_kind kind, activation::Function function, const dnnl::memory::desc& each) {
  const float parameter = parameter_of(function);
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), kind, algorithm_of(function), each, each, parameter};
#else
  return {{kind, algorithm_of(function), each, parameter}, engine()};
#endif
}

// Computes dx from x and dy; dx has the layout of dy.
inline dnnl::primitive make_eltwise_backward(activation::Function function,
                                             const dnnl::memory::desc& x,
                                             const dnnl::memory::desc& dy) {
  const auto hint = make_eltwise(dnnl::prop_kind::forward_training, function, x);
  const float parameter = parameter_of(function);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::eltwise_backward({engine(), algorithm_of(function), dy, dy, x, parameter, hint});
#else
  return dnnl::eltwise_backward({{algorithm_of(function), dy, x, parameter}, engine(), hint});
#endif
}

// Appends the function to a primitive, which applies it to its result before rounding.
inline void append_eltwise(dnnl::post_ops& after, dnnl::algorithm algorithm, float alpha) {
  constexpr float kUnused = 0;
#if DNNL_VERSION_MAJOR >= 3
  after.append_eltwise(algorithm, alpha, kUnused);
#else
  constexpr float kScale = 1;
  after.append_eltwise(kScale, algorithm, alpha, kUnused);
#endif
}

} // namespace kg::vendor::onednn
