// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a caller of the libraries writes for the gradients of attention where none has them in one
// call: the weights once more as in attention.h, by a batch of products and a softmax with an
// addend; the gradient by them, a product; that by the scores, a softmax's backward pass; and three
// products. Weights and their gradients pass through memory and are rounded to the element type. A
// query that sees no key makes its group's gradients NaN.
#pragma once

#include "libraries/attention.h"
#include "libraries/softmax_backward.h"
#include "libraries/variants.h"

namespace kg::vendor {

// Tensors as AttentionProblem says, gradients as what they belong to.
struct AttentionBackwardTensors {
  const void *q, *k, *v, *dout;
  const void* addend;        // batch x heads x queries x keys
  void *weights, *gradients; // the same, overwritten
  void *dq, *dk, *dv;
};

void attention_backward(std::string_view variant, const AttentionProblem& problem,
                        const AttentionBackwardTensors& tensors, Stream& stream);

// By which libraries' products and softmax.
struct AttentionBackwardVariant {
  std::string_view name, products, softmax;
  bool supports(Dtype dtype) const;
};
extern const Table<AttentionBackwardVariant> attention_backward_table;

} // namespace kg::vendor
