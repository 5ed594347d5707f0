// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/attention.h"

#include "libraries/dispatch.h"
#include "libraries/head_products.h"
#include "libraries/masked_softmax.h"
#include "runtime/error.h"

#include <string>

namespace kg::vendor {

bool AttentionVariant::supports(const AttentionProblem& p) const {
  if (!is_chain()) return takes(p);
  return p.order == TokenOrder::heads_first && !p.lengths &&
         contains(gemm_variants(p.dtype), products) &&
         contains(names(masked_softmax_table, p.dtype), softmax);
}

void require_valid(const std::string& what, const AttentionProblem& p) {
  require_extents(what, {{"batch", p.batch},
                         {"heads", p.heads},
                         {"kv_heads", p.kv_heads},
                         {"queries", p.queries},
                         {"keys", p.keys},
                         {"depth", p.depth},
                         {"value_depth", p.value_depth}});
  require(p.kv_heads > 0 && p.heads % p.kv_heads == 0,
          what + ": kv_heads is " + std::to_string(p.kv_heads) + " for " + std::to_string(p.heads) +
              " heads; it must divide them");
}

void require_masks(std::string_view what, const AttentionProblem& p, const AttentionMasks& masks) {
  if (p.bias) require_pointers(what, {{"bias", masks.bias}});
  if (p.counted())
    require_pointers(what,
                     {{"query_lengths", masks.query_lengths}, {"key_lengths", masks.key_lengths}});
  if (p.order == TokenOrder::ragged)
    require_pointers(what, {{"q_offsets", masks.q_offsets},
                            {"k_offsets", masks.k_offsets},
                            {"v_offsets", masks.v_offsets},
                            {"out_offsets", masks.out_offsets},
                            {"log_sum_offsets", masks.log_sum_offsets}});
}

void attention(std::string_view variant, const AttentionProblem& p, const AttentionTensors& tensors,
               Stream& stream) {
  const std::string what = join("attention", {name(p.dtype)});
  require_valid(what, p); // the depths decide which variants exist
  const auto& entry = find(attention_table, variant, what, p);
  if (p.batch * p.heads * p.queries * p.keys == 0) return;
  require_pointers(what,
                   {{"q", tensors.q}, {"k", tensors.k}, {"v", tensors.v}, {"out", tensors.out}});
  if (!entry.is_chain()) {
    require_pointers(what, {{"log_sum", tensors.log_sum}});
    require_masks(what, p, tensors.masks);
    return entry.in_one_call(p, tensors, stream);
  }
  require_pointers(what, {{"addend", tensors.addend}, {"scores", tensors.scores}});
  const std::int64_t rows = p.heads / p.kv_heads * p.queries;
  const HeadProducts products{entry.products, p, stream};
  products.multiply({rows, p.keys, p.depth}, 1, {tensors.q}, {tensors.k, true}, tensors.scores);
  masked_softmax(entry.softmax, {p.dtype, p.scale, 1, p.batch * p.heads * p.queries, p.keys},
                 tensors.scores, tensors.addend, tensors.scores, stream);
  products.multiply({rows, p.value_depth, p.keys}, 1, {tensors.scores}, {tensors.v}, tensors.out);
}

} // namespace kg::vendor
