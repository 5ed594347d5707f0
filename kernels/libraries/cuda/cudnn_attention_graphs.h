// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Attention and its gradients as cuDNN graphs, and the ids of their tensors. Building a graph needs
// no device.
#pragma once

#include "libraries/attention.h"
#include "libraries/cuda/cudnn_graph.h"

namespace kg::vendor::cudnn {

struct AttentionId {
  enum : std::int64_t {
    q = 1,
    k,
    v,
    out,
    log_sum,
    dout,
    dq,
    dk,
    dv,
    bias,
    query_lengths,
    key_lengths,
    q_offsets,
    k_offsets,
    v_offsets,
    out_offsets,
    log_sum_offsets
  };
};

// Layouts as in AttentionTensors. The forward graph always outputs log_sum.
std::shared_ptr<Graph> attention_graph(const AttentionProblem& problem);
std::shared_ptr<Graph> attention_backward_graph(const AttentionProblem& problem);

} // namespace kg::vendor::cudnn
