// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for the gradients of y = sum over k of w[k] x[k], w =
// softmax(alpha): the softmax once more, dx as the product of a column of weights and the row dy,
// the products of dy and each term, and from these the gradient of the softmax. In f32, as our
// wrapper of the product.
#pragma once

#include "vendor/variants.h"

namespace kg::vendor {

// Packed; dx apart from the inputs.
struct SoftmaxSumTensors {
  const float* x;
  const float* alpha;
  const float* dy;
  float* dx;
  float* dalpha;
};

void softmax_sum_backward(std::string_view variant, const SoftmaxSumTensors& tensors,
                          std::int64_t terms, std::int64_t n, Stream& stream);

using SoftmaxSumBackwardVariant = VariantOf<softmax_sum_backward>;
extern const Table<SoftmaxSumBackwardVariant> softmax_sum_backward_table;

} // namespace kg::vendor
