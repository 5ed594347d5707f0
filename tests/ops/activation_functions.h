// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The activation functions as shapes name them ("gelutanh_n5"), and as the oracle and the vendors
// call them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/contract/samples.h"
#include "tests/oracle/oracle_unary.h"
#include "vendor/activation.h"

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

namespace kg::card {

using activation::Function;
using activation::kFunctions;

// A word of a shape: '_' is between words.
inline std::string word_of(Function function) {
  std::string word(name(function));
  word.erase(std::remove(word.begin(), word.end(), '_'), word.end());
  return word;
}

// That which the shape begins with.
inline Function function_of(std::string_view shape) {
  for (const Function function : kFunctions)
    if (shape.starts_with(word_of(function) + "_")) return function;
  fail("shape '" + std::string(shape) +
       "' has none of: relu, sigmoid, tanh, gelu, gelutanh, silu; begin it with one");
}

inline std::vector<std::string> with_each_function(const std::vector<std::string>& shapes) {
  std::vector<std::string> words;
  for (const Function function : kFunctions) words.push_back(word_of(function));
  return in_each_form(words, shapes);
}

} // namespace kg::card
