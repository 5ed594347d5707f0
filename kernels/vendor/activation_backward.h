// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/activation.h"

namespace kg::vendor {

// dx = dy f'(x). y = f(x) is for libraries that take the slope from it (cuDNN).
std::vector<std::string_view> activation_backward_variants(activation::Function function,
                                                           Dtype dtype);
void activation_backward(std::string_view variant, activation::Function function, Dtype dtype,
                         const void* x, const void* y, const void* dy, void* dx, std::int64_t n,
                         Stream& stream);

// What a backend brings (host/, cuda/): see vendor/dispatch.h.
struct ActivationBackwardVariant {
  std::string_view name;
  bool (*supports)(activation::Function function, Dtype dtype);
  void (*run)(activation::Function function, Dtype dtype, const void* x, const void* y,
              const void* dy, void* dx, std::int64_t n, Stream& stream);
};
std::span<const ActivationBackwardVariant> activation_backward_table();

} // namespace kg::vendor
