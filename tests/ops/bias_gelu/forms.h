// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gelu's forms, of bias_gelu and of its backward pass: the first word of a shape.
#pragma once

#include <string>
#include <vector>

#include "bias_gelu/bias_gelu.h"
#include "tests/contract/samples.h"
#include "tests/oracle/oracle_unary.h"
#include "vendor/bias_gelu.h"

namespace kg::card {

inline bias_gelu::Form form_of(const Problem& problem) {
  return problem.shape.starts_with("erf_") ? bias_gelu::Form::erf : bias_gelu::Form::tanh;
}
inline std::vector<std::string> with_each_form(const std::vector<std::string>& shapes) {
  return in_each_form({"erf", "tanh"}, shapes);
}
inline test::UnaryOp oracle_op(bias_gelu::Form form) {
  return form == bias_gelu::Form::erf ? test::UnaryOp::gelu : test::UnaryOp::gelu_tanh;
}
inline vendor::Gelu vendor_form(bias_gelu::Form form) {
  return form == bias_gelu::Form::erf ? vendor::Gelu::erf : vendor::Gelu::tanh;
}

} // namespace kg::card
