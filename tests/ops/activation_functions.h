// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The activation functions as shapes name them ("gelutanh_n5").
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/contract/samples.h"

#include "activation/activation.h"

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
