// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for the gradients of y = act(gate) value, of rows that are
// gates and then as many values: x and dx are rows x 2 cols, dy rows x cols, all packed; dx apart
// from the inputs.
#pragma once

#include "vendor/activation.h"
#include "vendor/variants.h"

namespace kg::vendor {

void gated_activation_backward(std::string_view variant, activation::Function function, Dtype dtype,
                               const void* x, const void* dy, void* dx, std::int64_t rows,
                               std::int64_t cols, Stream& stream);

using GatedActivationBackwardVariant =
    VariantOf<gated_activation_backward, activation::Function, Dtype>;
extern const Table<GatedActivationBackwardVariant> gated_activation_backward_table;

} // namespace kg::vendor
