// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// gelu(x + bias) through the wrappers of both operations: library `sum` adds the bias, library
// `gelu` applies gelu.
#pragma once

#include "libraries/activation.h"
#include "libraries/bias_gelu.h"
#include "libraries/broadcast.h"
#include "libraries/dispatch.h"

namespace kg::vendor {

inline activation::Function activation_of(bias_gelu::Form form) {
  return form == bias_gelu::Form::erf ? activation::Function::gelu
                                      : activation::Function::gelu_tanh;
}

inline bool chain_supported(std::string_view sum, std::string_view gelu, bias_gelu::Form form,
                            Dtype dtype) {
  constexpr std::int64_t kProbe = 64;
  const BroadcastShapes shapes{{1, 1, 1, kProbe, kProbe}, {1, 1, 1, 1, kProbe}};
  return contains(names(broadcast_table, elementwise::Op::add, dtype, shapes), sum) &&
         contains(names(activation_table, activation_of(form), dtype), gelu);
}

inline void chain(std::string_view sum, std::string_view gelu, bias_gelu::Form form, Dtype dtype,
                  const void* x, const void* bias, void* y, std::int64_t rows, std::int64_t cols,
                  Stream& stream) {
  const BroadcastShapes shapes{{1, 1, 1, rows, cols}, {1, 1, 1, 1, cols}};
  broadcast(sum, elementwise::Op::add, dtype, shapes, x, bias, y, stream);
  activation(gelu, activation_of(form), dtype, y, y, rows * cols, stream);
}

} // namespace kg::vendor
