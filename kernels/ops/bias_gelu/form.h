// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/enumerators.h"

namespace kg::bias_gelu {

// erf: z Phi(z), where Phi is the normal CDF. tanh: its approximation (primitives/activation.h).
enum class Form { erf, tanh };
inline constexpr Form kForms[] = {Form::erf, Form::tanh};

using kg::name;

} // namespace kg::bias_gelu
