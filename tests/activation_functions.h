// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The activation functions as the oracle and the vendors call them.
#pragma once

#include "tests/oracle/oracle_unary.h"
#include "vendor/activation/activation.h"

#include "activation/activation.h"

namespace kg::test {

using activation::Function;
using activation::kFunctions;

inline UnaryOp oracle_op(Function function) {
  switch (function) {
  case Function::relu: return UnaryOp::relu;
  case Function::sigmoid: return UnaryOp::sigmoid;
  case Function::tanh: return UnaryOp::tanh;
  case Function::gelu: return UnaryOp::gelu;
  case Function::gelu_tanh: return UnaryOp::gelu_tanh;
  case Function::silu: return UnaryOp::silu;
  }
  return UnaryOp::relu;
}

inline vendor::Activation vendor_function(Function function) {
  switch (function) {
  case Function::relu: return vendor::Activation::relu;
  case Function::sigmoid: return vendor::Activation::sigmoid;
  case Function::tanh: return vendor::Activation::tanh;
  case Function::gelu: return vendor::Activation::gelu;
  case Function::gelu_tanh: return vendor::Activation::gelu_tanh;
  case Function::silu: return vendor::Activation::silu;
  }
  return vendor::Activation::relu;
}

} // namespace kg::test
