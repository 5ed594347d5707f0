// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/enumerators.h"

namespace kg::activation {

// relu       max(x, 0) by selection: -0 and NaN are preserved
// sigmoid    1 / (1 + e^-x)
// tanh
// gelu       x Phi(x), Phi the normal distribution (Hendrycks and Gimpel, arXiv 1606.08415)
// gelu_tanh  the same paper's approximation, x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3))
// silu       x sigmoid(x)
enum class Function { relu, sigmoid, tanh, gelu, gelu_tanh, silu };
inline constexpr Function kFunctions[] = {Function::relu, Function::sigmoid,   Function::tanh,
                                          Function::gelu, Function::gelu_tanh, Function::silu};

using kg::name;

} // namespace kg::activation
