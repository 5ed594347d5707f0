// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention by a library's one call, where it has one, and what a caller of the libraries writes
// where none has: the scores by a batch of products, their softmax with an addend that is -inf
// where a key is hidden, and a batch of products with the values. Scores and weights of such a
// chain pass through memory and are rounded to the element type. Each query must see a key.
#pragma once

#include "libraries/variants.h"

#include <string>

namespace kg::vendor {

// heads_first: batch x heads x tokens x depth. tokens_first: batch x tokens x heads x depth.
// ragged: the same without an axis of sequences, which follow each other. All packed.
enum class TokenOrder { heads_first, tokens_first, ragged };

// q has heads x queries rows of depth for each sequence, k and v have kv_heads x keys of depth and
// value_depth, out has q's rows of value_depth; kv_heads divides heads.
struct AttentionProblem {
  Dtype dtype = Dtype::f32;
  float scale = 1;
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, depth = 0,
               value_depth = 0; // of ragged sequences queries and keys are the most of any
  TokenOrder order = TokenOrder::heads_first;
  std::int64_t tokens = 0; // queries of all ragged sequences
  // Masks as in ops/attention/attention.h; window: 0, or how many keys a query sees at the most.
  bool causal = false;
  std::int64_t window = 0;
  bool lengths = false, bias = false;

  // Whether the numbers of tokens of the sequences are data.
  bool counted() const { return lengths || order == TokenOrder::ragged; }

  friend bool operator==(const AttentionProblem&, const AttentionProblem&) = default;
};
// Throws Error naming `what` and the field on a negative extent or kv_heads that do not divide
// heads.
void require_valid(const std::string& what, const AttentionProblem& problem);

// What one call takes beside q, k and v, as cuDNN wants it. Those of masks that the problem does
// not have are null.
struct AttentionMasks {
  const void* bias = nullptr; // heads x queries x keys
  const std::int32_t *query_lengths = nullptr,
                     *key_lengths = nullptr; // batch tokens, where they are counted
  // Of ragged sequences batch + 1 each: where a sequence begins, in elements of the tensor.
  const std::int32_t *q_offsets = nullptr, *k_offsets = nullptr, *v_offsets = nullptr,
                     *out_offsets = nullptr, *log_sum_offsets = nullptr;
};

struct AttentionTensors {
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void* out = nullptr;
  AttentionMasks masks = {};    // of one call
  float* log_sum = nullptr;     // of one call: batch x heads x queries; ragged: heads x tokens
  const void* addend = nullptr; // of a chain: batch x heads x queries x keys
  void* scores = nullptr;       // of a chain: the same, overwritten
};

void attention(std::string_view variant, const AttentionProblem& problem,
               const AttentionTensors& tensors, Stream& stream);

// By which libraries' products and softmax, which take heads-first tensors and no lengths; or by
// one call.
struct AttentionVariant {
  std::string_view name, products, softmax;
  bool (*takes)(const AttentionProblem& problem) = nullptr;
  void (*in_one_call)(const AttentionProblem& problem, const AttentionTensors& tensors,
                      Stream& stream) = nullptr;

  bool is_chain() const { return in_one_call == nullptr; }
  bool supports(const AttentionProblem& problem) const;
};
extern const Table<AttentionVariant> attention_table;

// Throws Error naming `what` and the mask that the problem has and that is null.
void require_masks(std::string_view what, const AttentionProblem& problem,
                   const AttentionMasks& masks);

} // namespace kg::vendor
