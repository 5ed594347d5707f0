// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for y = gelu(x + bias): the sum into y, and gelu in place.
// The sum passes through memory and is rounded to the element type. oneDNN has one call, too, that
// appends the gelu to the sum.
#pragma once

#include "bias_gelu/form.h"
#include "vendor/variants.h"

namespace kg::vendor {

void bias_gelu(std::string_view variant, bias_gelu::Form form, Dtype dtype, const void* x,
               const void* bias, void* y, std::int64_t rows, std::int64_t cols, Stream& stream);

using BiasGeluVariant = VariantOf<bias_gelu, bias_gelu::Form, Dtype>;
extern const Table<BiasGeluVariant> bias_gelu_table;

} // namespace kg::vendor
