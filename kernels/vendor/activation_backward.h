// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/activation.h"
#include "vendor/variants.h"

namespace kg::vendor {

// dx = dy f'(x). y = f(x) is for libraries that take the slope from it (cuDNN).
void activation_backward(std::string_view variant, activation::Function function, Dtype dtype,
                         const void* x, const void* y, const void* dy, void* dx, std::int64_t n,
                         Stream& stream);

using ActivationBackwardVariant = VariantOf<activation_backward, activation::Function, Dtype>;
extern const Table<ActivationBackwardVariant> activation_backward_table;

} // namespace kg::vendor
