// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kg::bias_gelu {

// erf: z Phi(z), Phi the normal distribution. tanh: its approximation (primitives/activation.h).
enum class Form { erf, tanh };
inline constexpr Form kForms[] = {Form::erf, Form::tanh};

constexpr std::string_view name(Form form) {
  switch (form) {
  case Form::erf: return "erf";
  case Form::tanh: return "tanh";
  }
  return "";
}

} // namespace kg::bias_gelu
