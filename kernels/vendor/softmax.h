// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "softmax/kind.h"
#include "vendor/variants.h"

namespace kg::vendor {

void softmax(std::string_view variant, softmax::Kind kind, Dtype dtype, const void* x, void* y,
             std::int64_t rows, std::int64_t cols, Stream& stream); // packed rows

using SoftmaxVariant = VariantOf<softmax, softmax::Kind, Dtype>;
extern const Table<SoftmaxVariant> softmax_table;

} // namespace kg::vendor
