// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/attention_backward.h"

#include "libraries/dispatch.h"
#include "libraries/head_products.h"
#include "libraries/masked_softmax.h"

namespace kg::vendor {

bool AttentionBackwardVariant::supports(const AttentionProblem& p) const {
  if (!is_chain()) return takes(p);
  return AttentionVariant{name, products, softmax}.supports(p) &&
         contains(names(softmax_backward_table, softmax::Kind::softmax, p.dtype), softmax);
}

void attention_backward(std::string_view variant, const AttentionProblem& p,
                        const AttentionBackwardTensors& tensors, Stream& stream) {
  const std::string what = join("attention_backward", {name(p.dtype)});
  require_valid(what, p); // the depths decide which variants exist
  const auto& entry = find(attention_backward_table, variant, what, p);
  if (p.batch * p.heads * p.queries * p.keys == 0) return;
  require_pointers(what, {{"q", tensors.q},
                          {"k", tensors.k},
                          {"v", tensors.v},
                          {"dout", tensors.dout},
                          {"dq", tensors.dq},
                          {"dk", tensors.dk},
                          {"dv", tensors.dv}});
  if (!entry.is_chain()) {
    require_pointers(what, {{"out", tensors.out}, {"log_sum", tensors.log_sum}});
    require_masks(what, p, tensors.masks);
    return entry.in_one_call(p, tensors, stream);
  }
  require_pointers(
      what,
      {{"addend", tensors.addend}, {"weights", tensors.weights}, {"gradients", tensors.gradients}});
  const std::int64_t rows = p.heads / p.kv_heads * p.queries;
  const HeadProducts products{entry.products, p, stream};
  products.multiply({rows, p.keys, p.depth}, 1, {tensors.q}, {tensors.k, true}, tensors.weights);
  masked_softmax(entry.softmax, {p.dtype, p.scale, 1, p.batch * p.heads * p.queries, p.keys},
                 tensors.weights, tensors.addend, tensors.weights, stream);
  products.multiply({p.keys, p.value_depth, rows}, 1, {tensors.weights, true}, {tensors.dout},
                    tensors.dv);
  products.multiply({rows, p.keys, p.value_depth}, 1, {tensors.dout}, {tensors.v, true},
                    tensors.gradients);
  softmax_backward(entry.softmax, softmax::Kind::softmax, p.dtype, tensors.weights,
                   tensors.gradients, tensors.gradients, p.batch * p.heads * p.queries, p.keys,
                   stream);
  products.multiply({rows, p.depth, p.keys}, p.scale, {tensors.gradients}, {tensors.k}, tensors.dq);
  products.multiply({p.keys, p.depth, rows}, p.scale, {tensors.gradients, true}, {tensors.q},
                    tensors.dk);
}

} // namespace kg::vendor
