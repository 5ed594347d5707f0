// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for the gradients of y = act(gate) value, of rows that are
// gates and then as many values: x and dx are rows x 2 cols, dy rows x cols, all packed; dx apart
// from the inputs.
#pragma once

#include "runtime/dtype.h"
#include "runtime/stream.h"
#include "vendor/activation.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kg::vendor {

std::vector<std::string_view> gated_activation_backward_variants(activation::Function function,
                                                                 Dtype dtype);
void gated_activation_backward(std::string_view variant, activation::Function function, Dtype dtype,
                               const void* x, const void* dy, void* dx, std::int64_t rows,
                               std::int64_t cols, Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct GatedActivationBackwardVariant {
  std::string_view name;
  bool (*supports)(activation::Function function, Dtype dtype);
  void (*run)(activation::Function function, Dtype dtype, const void* x, const void* dy, void* dx,
              std::int64_t rows, std::int64_t cols, Stream& stream);
};
std::span<const GatedActivationBackwardVariant> gated_activation_backward_table();

} // namespace kg::vendor
