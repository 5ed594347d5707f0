// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn_attention_graphs.h"

#include <utility>

namespace kg::vendor::cudnn {
namespace {

using Id = AttentionId;

// The rows of all heads, in the problem's token order.
Described rows(std::int64_t id, const AttentionProblem& p, std::int64_t heads, std::int64_t tokens,
               std::int64_t depth) {
  Described result = packed(id, p.dtype, {p.batch, heads, tokens, depth});
  if (p.order != TokenOrder::heads_first)
    result.strides = {tokens * heads * depth, depth, heads * depth, 1};
  return result;
}
Described rows_of_q(std::int64_t id, const AttentionProblem& p) {
  return rows(id, p, p.heads, p.queries, p.depth);
}
Described rows_of_out(std::int64_t id, const AttentionProblem& p) {
  return rows(id, p, p.heads, p.queries, p.value_depth);
}
Described rows_of_k(std::int64_t id, const AttentionProblem& p) {
  return rows(id, p, p.kv_heads, p.keys, p.depth);
}
Described rows_of_v(std::int64_t id, const AttentionProblem& p) {
  return rows(id, p, p.kv_heads, p.keys, p.value_depth);
}
// Heads before tokens, whatever the order of the other tensors.
Described log_sums(const AttentionProblem& p) {
  Described result = packed(Id::log_sum, Dtype::f32, {p.batch, p.heads, p.queries, 1});
  if (p.order == TokenOrder::ragged) result.strides = {p.heads * p.tokens, p.tokens, 1, 1};
  return result;
}

TensorHandle counts(Graph& graph, std::int64_t id, std::int64_t count) {
  return input(graph, {id, Dtype::i32, {count, 1, 1, 1}, {1, 1, 1, 1}});
}

// Start offsets of the sequences of ragged tensors; null for other token orders.
struct Offsets {
  Offsets(Graph& graph, const AttentionProblem& p) {
    if (p.order != TokenOrder::ragged) return;
    q = counts(graph, Id::q_offsets, p.batch + 1);
    k = counts(graph, Id::k_offsets, p.batch + 1);
    v = counts(graph, Id::v_offsets, p.batch + 1);
    out = counts(graph, Id::out_offsets, p.batch + 1);
    log_sum = counts(graph, Id::log_sum_offsets, p.batch + 1);
  }
  TensorHandle q, k, v, out, log_sum;
};

TensorHandle input(Graph& graph, const Described& tensor, const TensorHandle& offsets) {
  TensorHandle result = cudnn::input(graph, tensor);
  if (offsets) result->set_ragged_offset(offsets);
  return result;
}
void mark_output(const TensorHandle& result, const Described& tensor, const TensorHandle& offsets) {
  cudnn::mark_output(result, tensor);
  if (offsets) result->set_ragged_offset(offsets);
}

// For the forward and the backward pass, whose attributes have the same setters.
template <class Attributes>
Attributes with_masks(Graph& graph, const AttentionProblem& p) {
  Attributes result;
  result.set_attn_scale(p.scale);
  if (p.causal)
    result.set_diagonal_alignment(frontend::DiagonalAlignment_t::BOTTOM_RIGHT)
        .set_diagonal_band_right_bound(0);
  if (p.window > 0) result.set_diagonal_band_left_bound(static_cast<int>(p.window));
  if (p.bias)
    result.set_bias(
        cudnn::input(graph, packed(Id::bias, p.dtype, {1, p.heads, p.queries, p.keys})));
  if (p.counted())
    result.set_padding_mask(true)
        .set_seq_len_q(counts(graph, Id::query_lengths, p.batch))
        .set_seq_len_kv(counts(graph, Id::key_lengths, p.batch));
  return result;
}

} // namespace

std::shared_ptr<Graph> attention_graph(const AttentionProblem& p) {
  const auto graph = empty_graph();
  const Offsets offsets(*graph, p);
  const auto [out, log_sum] = graph->sdpa(
      input(*graph, rows_of_q(Id::q, p), offsets.q), input(*graph, rows_of_k(Id::k, p), offsets.k),
      input(*graph, rows_of_v(Id::v, p), offsets.v),
      with_masks<frontend::graph::SDPA_attributes>(*graph, p).set_generate_stats(true));
  mark_output(out, rows_of_out(Id::out, p), offsets.out);
  mark_output(log_sum, log_sums(p), offsets.log_sum);
  return graph;
}

std::shared_ptr<Graph> attention_backward_graph(const AttentionProblem& p) {
  const auto graph = empty_graph();
  const Offsets offsets(*graph, p);
  const auto [dq, dk, dv] = graph->sdpa_backward(
      input(*graph, rows_of_q(Id::q, p), offsets.q), input(*graph, rows_of_k(Id::k, p), offsets.k),
      input(*graph, rows_of_v(Id::v, p), offsets.v),
      input(*graph, rows_of_out(Id::out, p), offsets.out),
      input(*graph, rows_of_out(Id::dout, p), offsets.out),
      input(*graph, log_sums(p), offsets.log_sum),
      with_masks<frontend::graph::SDPA_backward_attributes>(*graph, p));
  mark_output(dq, rows_of_q(Id::dq, p), offsets.q);
  mark_output(dk, rows_of_k(Id::dk, p), offsets.k);
  mark_output(dv, rows_of_v(Id::dv, p), offsets.v);
  return graph;
}

} // namespace kg::vendor::cudnn
