// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/cuda/cudnn_attention.h"

#include "libraries/cuda/cudnn_attention_graphs.h"
#include "libraries/cuda/cudnn_plan.h"

#include <vector>

namespace kg::vendor::cudnn {
namespace {

using Id = AttentionId;

// The masks for which the problem's graph has tensors.
std::vector<Binding> bindings(const AttentionProblem& p, const AttentionMasks& masks) {
  std::vector<Binding> result;
  if (p.bias) result.push_back({Id::bias, masks.bias});
  if (p.counted())
    result.insert(result.end(),
                  {{Id::query_lengths, masks.query_lengths}, {Id::key_lengths, masks.key_lengths}});
  if (p.order == TokenOrder::ragged)
    result.insert(result.end(), {{Id::q_offsets, masks.q_offsets},
                                 {Id::k_offsets, masks.k_offsets},
                                 {Id::v_offsets, masks.v_offsets},
                                 {Id::out_offsets, masks.out_offsets},
                                 {Id::log_sum_offsets, masks.log_sum_offsets}});
  return result;
}

} // namespace

void attention(const AttentionProblem& p, const AttentionTensors& of, Stream& stream) {
  thread_local KeptPlan<AttentionProblem> last;
  std::vector<Binding> all = bindings(p, of.masks);
  all.insert(
      all.end(),
      {{Id::q, of.q}, {Id::k, of.k}, {Id::v, of.v}, {Id::out, of.out}, {Id::log_sum, of.log_sum}});
  last.plan_of(p, attention_graph, stream).execute(all, stream);
}

void attention_backward(const AttentionProblem& p, const AttentionBackwardTensors& of,
                        Stream& stream) {
  thread_local KeptPlan<AttentionProblem> last;
  std::vector<Binding> all = bindings(p, of.masks);
  all.insert(all.end(), {{Id::q, of.q},
                         {Id::k, of.k},
                         {Id::v, of.v},
                         {Id::out, of.out},
                         {Id::log_sum, of.log_sum},
                         {Id::dout, of.dout},
                         {Id::dq, of.dq},
                         {Id::dk, of.dk},
                         {Id::dv, of.dv}});
  last.plan_of(p, attention_backward_graph, stream).execute(all, stream);
}

} // namespace kg::vendor::cudnn
