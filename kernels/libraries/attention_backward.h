// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradients of attention by a library: one fused call if the library has one, otherwise the chain
// of calls that its user would write. The chain recomputes the weights as in attention.h. A product
// gives the weights' gradients, a softmax backward pass those of the scores, and three more
// products dq, dk and dv. Weights and their gradients pass through memory and are rounded to the
// element type. Each query must see at least one key.
#pragma once

#include "libraries/attention.h"
#include "libraries/softmax_backward.h"
#include "libraries/variants.h"

namespace kg::vendor {

// Layouts as in AttentionProblem. Each gradient has the layout of its tensor.
struct AttentionBackwardTensors {
  const void *q = nullptr, *k = nullptr, *v = nullptr, *dout = nullptr;
  void *dq = nullptr, *dk = nullptr, *dv = nullptr;
  AttentionMasks masks = {};                     // fused call only
  const void* out = nullptr;                     // fused call only: result of the forward pass
  const float* log_sum = nullptr;                // fused call only: laid out as in AttentionTensors
  const void* addend = nullptr;                  // chain only: batch x heads x queries x keys
  void *weights = nullptr, *gradients = nullptr; // chain only: the same shape, overwritten
};

void attention_backward(std::string_view variant, const AttentionProblem& problem,
                        const AttentionBackwardTensors& tensors, Stream& stream);

// See AttentionVariant.
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
