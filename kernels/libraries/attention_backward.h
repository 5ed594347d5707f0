// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of attention by a library's one call, where it has one, and what a caller of the
// libraries writes where none has: the weights once more as in attention.h, by a batch of products
// and a softmax with an addend; the gradient by them, a product; that by the scores, a softmax's
// backward pass; and three products. Weights and their gradients of such a chain pass through
// memory and are rounded to the element type. Each query must see a key.
#pragma once

#include "libraries/attention.h"
#include "libraries/softmax_backward.h"
#include "libraries/variants.h"

namespace kg::vendor {

// Tensors as AttentionProblem says, gradients as what they belong to.
struct AttentionBackwardTensors {
  const void *q = nullptr, *k = nullptr, *v = nullptr, *dout = nullptr;
  void *dq = nullptr, *dk = nullptr, *dv = nullptr;
  AttentionMasks masks = {};                     // of one call
  const void* out = nullptr;                     // of one call: the forward pass's
  const float* log_sum = nullptr;                // the same, laid out as in AttentionTensors
  const void* addend = nullptr;                  // of a chain: batch x heads x queries x keys
  void *weights = nullptr, *gradients = nullptr; // of a chain: the same, overwritten
};

void attention_backward(std::string_view variant, const AttentionProblem& problem,
                        const AttentionBackwardTensors& tensors, Stream& stream);

// As AttentionVariant.
struct AttentionBackwardVariant {
  std::string_view name, products, softmax;
  bool (*takes)(const AttentionProblem& problem) = nullptr;
  void (*in_one_call)(const AttentionProblem& problem, const AttentionBackwardTensors& tensors,
                      Stream& stream) = nullptr;

  bool is_chain() const { return in_one_call == nullptr; }
  bool supports(const AttentionProblem& problem) const;
};
extern const Table<AttentionBackwardVariant> attention_backward_table;

} // namespace kg::vendor
