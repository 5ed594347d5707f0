// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "primitives/activation_function.h"
#include "vendor/variants.h"

namespace kg::vendor {

void activation(std::string_view variant, activation::Function function, Dtype dtype, const void* x,
                void* y, std::int64_t n, Stream& stream);

using ActivationVariant = VariantOf<activation, activation::Function, Dtype>;
extern const Table<ActivationVariant> activation_table;

} // namespace kg::vendor
