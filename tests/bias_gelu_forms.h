// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gelu's forms as the tests of bias_gelu and of its backward pass name them.
#pragma once

#include <cstdint>
#include <string>

#include "tests/oracle/oracle_unary.h"
#include "vendor/bias_gelu/bias_gelu.h"

#include "bias_gelu/bias_gelu.h"

namespace kg::test {

using bias_gelu::Form;
using bias_gelu::kForms;

inline UnaryOp oracle_op(Form form) {
  return form == Form::erf ? UnaryOp::gelu : UnaryOp::gelu_tanh;
}
inline vendor::Gelu vendor_form(Form form) {
  return form == Form::erf ? vendor::Gelu::erf : vendor::Gelu::tanh;
}

// Of a case's name.
inline std::string parameters(Form form, std::int64_t rows, std::int64_t cols) {
  return std::string(name(form)) + "_rows" + std::to_string(rows) + "_cols" + std::to_string(cols);
}

} // namespace kg::test
