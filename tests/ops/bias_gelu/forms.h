// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The shapes of bias_gelu and of its backward pass, and the forms of GELU.
#pragma once

#include <string>
#include <vector>

#include "libraries/bias_gelu.h"
#include "ops/bias_gelu/bias_gelu.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/oracle_unary.h"

namespace kg::card {

struct GeluRows {
  bias_gelu::Form form;
  std::int64_t rows, cols;
};
inline ShapeGrammar<GeluRows> gelu_grammar() {
  return ShapeGrammar<GeluRows>()
      .enumerator(&GeluRows::form, bias_gelu::kForms)
      .number("rows", &GeluRows::rows)
      .number("cols", &GeluRows::cols);
}
inline bias_gelu::Form form_of(const Problem& problem) {
  return problem.parameters.as<GeluRows>().form;
}
inline std::vector<std::string> with_each_form(const std::vector<std::string>& shapes) {
  return in_each_form({"erf", "tanh"}, shapes);
}
inline activation::Function function_of(bias_gelu::Form form) {
  return form == bias_gelu::Form::erf ? activation::Function::gelu
                                      : activation::Function::gelu_tanh;
}

} // namespace kg::card
