// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "vendor/softmax.h"
#include "vendor/variants.h"

namespace kg::vendor {

// From the results y of softmax or log_softmax and the gradient dy by them; packed rows.
void softmax_backward(std::string_view variant, softmax::Kind kind, Dtype dtype, const void* y,
                      const void* dy, void* dx, std::int64_t rows, std::int64_t cols,
                      Stream& stream);

using SoftmaxBackwardVariant = VariantOf<softmax_backward, softmax::Kind, Dtype>;
extern const Table<SoftmaxBackwardVariant> softmax_backward_table;

} // namespace kg::vendor
