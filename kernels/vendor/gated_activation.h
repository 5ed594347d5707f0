// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for y = act(gate) value, of rows that are gates and then as
// many values: x is rows x 2 cols, y rows x cols, both packed.
#pragma once

#include "vendor/activation.h"
#include "vendor/variants.h"

namespace kg::vendor {

void gated_activation(std::string_view variant, activation::Function function, Dtype dtype,
                      const void* x, void* y, std::int64_t rows, std::int64_t cols, Stream& stream);

using GatedActivationVariant = VariantOf<gated_activation, activation::Function, Dtype>;
extern const Table<GatedActivationVariant> gated_activation_table;

} // namespace kg::vendor
