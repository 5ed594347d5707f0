// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gelu's forms, of bias_gelu and of its backward pass: the first word of a shape.
#pragma once

#include <string>
#include <vector>

#include "libraries/bias_gelu.h"
#include "ops/bias_gelu/bias_gelu.h"
#include "tests/contract/samples.h"
#include "tests/oracle/oracle_unary.h"

namespace kg::card {

inline bias_gelu::Form form_of(const Problem& problem) {
  return problem.shape.starts_with("erf_") ? bias_gelu::Form::erf : bias_gelu::Form::tanh;
}
inline std::vector<std::string> with_each_form(const std::vector<std::string>& shapes) {
  return in_each_form({"erf", "tanh"}, shapes);
}
inline activation::Function function_of(bias_gelu::Form form) {
  return form == bias_gelu::Form::erf ? activation::Function::gelu
                                      : activation::Function::gelu_tanh;
}

} // namespace kg::card
