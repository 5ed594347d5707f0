// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by cuDNN's forward and backward activations.
#pragma once

#include "libraries/activation.h"
#include "libraries/cuda/cudnn.h"

#include <optional>

namespace kg::vendor::cudnn {

// nullopt: cuDNN's fixed functions have no such activation.
inline std::optional<cudnnActivationMode_t> mode_of(activation::Function function) {
  switch (function) {
  case activation::Function::relu: return CUDNN_ACTIVATION_RELU;
  case activation::Function::sigmoid: return CUDNN_ACTIVATION_SIGMOID;
  case activation::Function::tanh: return CUDNN_ACTIVATION_TANH;
  case activation::Function::silu: return CUDNN_ACTIVATION_SWISH;
  default: return std::nullopt;
  }
}

class ActivationDescriptor
    : public Owned<cudnnActivationDescriptor_t, cudnnCreateActivationDescriptor,
                   cudnnDestroyActivationDescriptor> {
 public:
  // `function` must have a mode.
  explicit ActivationDescriptor(activation::Function function) {
    constexpr double kUnused = 0; // the limit of a clipped relu, elu's factor
    KG_CHECK(cudnnSetActivationDescriptor(get(), mode_of(function).value(), CUDNN_PROPAGATE_NAN,
                                          kUnused));
    if (function == activation::Function::silu)
      KG_CHECK(cudnnSetActivationDescriptorSwishBeta(get(), 1.0));
  }
};

} // namespace kg::vendor::cudnn
