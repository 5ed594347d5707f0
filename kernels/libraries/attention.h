// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention by a library: one fused call if the library has one, otherwise the chain of calls that
// its user would write. The chain is a batched product for the scores, a softmax with an addend
// (-inf hides a key), and a batched product with V. Its scores and weights pass through memory and
// are rounded to the element type. Each query must see at least one key.
#pragma once

#include "libraries/variants.h"

#include <string>

namespace kg::vendor {

// heads_first: batch x heads x tokens x depth. tokens_first: batch x tokens x heads x depth.
// ragged: tokens_first without a batch axis; the sequences are concatenated. All packed.
enum class TokenOrder { heads_first, tokens_first, ragged };

// Per sequence, q has heads x queries rows of `depth`; k and v have kv_heads x keys rows of `depth`
// and `value_depth`; out has q's rows of `value_depth`. kv_heads divides heads.
struct AttentionProblem {
  Dtype dtype = Dtype::f32;
  float scale = 1;
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, depth = 0,
               value_depth = 0; // ragged: queries and keys of the longest sequence
  TokenOrder order = TokenOrder::heads_first;
  std::int64_t tokens = 0; // ragged: total number of queries
  // Masks as in ops/attention/attention.h. window: at most this many keys per query; 0: all keys.
  bool causal = false;
  std::int64_t window = 0;
  bool lengths = false, bias = false;

  // Whether the sequence lengths are read from memory.
  bool counted() const { return lengths || order == TokenOrder::ragged; }

  friend bool operator==(const AttentionProblem&, const AttentionProblem&) = default;
};
// Throws Error, naming `what` and the field, if an extent is negative or kv_heads does not divide
// heads.
void require_valid(const std::string& what, const AttentionProblem& problem);

// Additional inputs of a fused call, as cuDNN expects them. Pointers of masks that the problem does
// not use are null.
struct AttentionMasks {
  const void* bias = nullptr; // heads x queries x keys
  const std::int32_t *query_lengths = nullptr,
                     *key_lengths = nullptr; // batch entries each, if counted()
  // ragged: batch + 1 entries each, the start of each sequence in elements of the tensor.
  const std::int32_t *q_offsets = nullptr, *k_offsets = nullptr, *v_offsets = nullptr,
                     *out_offsets = nullptr, *log_sum_offsets = nullptr;
};

struct AttentionTensors {
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  void* out = nullptr;
  AttentionMasks masks = {};    // fused call only
  float* log_sum = nullptr;     // fused: batch x heads x queries; ragged: heads x tokens
  const void* addend = nullptr; // chain only: batch x heads x queries x keys
  void* scores = nullptr;       // chain only: the same shape, overwritten
};

void attention(std::string_view variant, const AttentionProblem& problem,
               const AttentionTensors& tensors, Stream& stream);

// Either a chain, with a library for its products and one for its softmax (heads_first tensors, no
// lengths), or one fused call.
struct AttentionVariant {
  std::string_view name, products, softmax;
  bool (*takes)(const AttentionProblem& problem) = nullptr;
  void (*in_one_call)(const AttentionProblem& problem, const AttentionTensors& tensors,
                      Stream& stream) = nullptr;

  bool is_chain() const { return in_one_call == nullptr; }
  bool supports(const AttentionProblem& problem) const;
};
extern const Table<AttentionVariant> attention_table;

// Throws Error, naming `what` and the mask, if a mask that the problem uses is null.
void require_masks(std::string_view what, const AttentionProblem& problem,
                   const AttentionMasks& masks);

} // namespace kg::vendor
