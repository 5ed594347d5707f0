// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention by a library's one call, where it has one, and what a caller of the libraries writes
// where none has: the scores by a batch of products, their softmax with an addend that is -inf
// where a key is hidden, and a batch of products with the values. Scores and weights then pass
// through memory and are rounded to the element type. A query that sees no key gets NaN.
#pragma once

#include "libraries/variants.h"

#include <string>

namespace kg::vendor {

// q: batch x heads x queries x depth, k: batch x kv_heads x keys x depth, v: the same by
// value_depth, out: as q by value_depth, all packed; kv_heads divides heads.
struct AttentionProblem {
  Dtype dtype = Dtype::f32;
  float scale = 1;
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, depth = 0,
               value_depth = 0;
  bool masked = true; // whether the addend is looked at

  friend bool operator==(const AttentionProblem&, const AttentionProblem&) = default;
};
// Throws Error naming `what` and the field on a negative extent or kv_heads that do not divide
// heads.
void require_valid(const std::string& what, const AttentionProblem& problem);

struct AttentionTensors {
  const void *q, *k, *v;
  const void* addend; // batch x heads x queries x keys
  void* scores;       // the same, overwritten
  void* out;
};

void attention(std::string_view variant, const AttentionProblem& problem,
               const AttentionTensors& tensors, Stream& stream);

// By which libraries' products and softmax, or by one call, which knows no addend.
struct AttentionVariant {
  std::string_view name, products, softmax;
  bool (*takes)(Dtype dtype) = nullptr;
  void (*in_one_call)(const AttentionProblem& problem, const AttentionTensors& tensors,
                      Stream& stream) = nullptr;

  bool supports(Dtype dtype, bool masked) const;
};
extern const Table<AttentionVariant> attention_table;

} // namespace kg::vendor
