// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes: a softmax of alpha, and the product of the row of weights
// and the matrix whose rows are the tensors. In f32, as our wrapper of the product.
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

void softmax_sum(std::string_view variant, const float* x, const float* alpha, float* y,
                 std::int64_t terms, std::int64_t n, Stream& stream);

using SoftmaxSumVariant = VariantOf<softmax_sum>;
extern const Table<SoftmaxSumVariant> softmax_sum_table;

} // namespace kg::vendor
