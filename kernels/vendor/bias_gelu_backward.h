// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for the gradients of y = gelu(x + bias): the sum once more,
// the gradient of the gelu, and the sums of its columns. The sum and dx pass through memory and are
// rounded to the element type.
#pragma once

#include "vendor/bias_gelu.h"
#include "vendor/variants.h"

namespace kg::vendor {

// Packed; dx apart from the inputs.
struct BiasGeluTensors {
  const void* x;
  const void* bias;
  const void* dy;
  void* dx;
  void* dbias;
};

void bias_gelu_backward(std::string_view variant, bias_gelu::Form form, Dtype dtype,
                        const BiasGeluTensors& tensors, std::int64_t rows, std::int64_t cols,
                        Stream& stream);

using BiasGeluBackwardVariant = VariantOf<bias_gelu_backward, bias_gelu::Form, Dtype>;
extern const Table<BiasGeluBackwardVariant> bias_gelu_backward_table;

} // namespace kg::vendor
