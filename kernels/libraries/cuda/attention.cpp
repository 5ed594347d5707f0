// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cuDNN has attention as one operation of its graphs. Of the versions that the project builds with
// it takes Q, K, V and a scale: masks inside of the operation came with 9.21.
#include "libraries/attention.h"

#include "libraries/cuda/cudnn_graph.h"

#include <optional>

namespace kg::vendor {
namespace {

using cudnn::Binding;
using cudnn::Descriptor;
using cudnn::Operation;
using cudnn::Plan;

// The tensors' names in the graph.
enum AttentionTensor : std::int64_t {
  kAttentionQ = 1,
  kAttentionK,
  kAttentionV,
  kAttentionOut,
  kAttentionScale
};

// Heads before tokens, packed.
Descriptor rows_of_heads(AttentionTensor id, const AttentionProblem& p, std::int64_t heads,
                         std::int64_t tokens, std::int64_t depth) {
  return cudnn::packed_tensor(id, p.dtype, {p.batch, heads, tokens, depth});
}

Operation attention_operation(const AttentionProblem& p) {
  Operation op(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
  op.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,
         rows_of_heads(kAttentionQ, p, p.heads, p.queries, p.depth));
  op.set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
         rows_of_heads(kAttentionK, p, p.kv_heads, p.keys, p.depth));
  op.set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC,
         rows_of_heads(kAttentionV, p, p.kv_heads, p.keys, p.value_depth));
  op.set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC,
         rows_of_heads(kAttentionOut, p, p.heads, p.queries, p.value_depth));
  op.set(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, cudnn::scalar_tensor(kAttentionScale));
  return op;
}

struct KeptAttention {
  AttentionProblem problem;
  Plan plan;
};

void attention_in_one_call(const AttentionProblem& p, const AttentionTensors& of, Stream& stream) {
  thread_local std::optional<KeptAttention> last;
  AttentionProblem shape = p;
  shape.scale = 0; // given with each execution
  if (!last || last->problem != shape) {
    last.reset(); // nothing is kept of a problem that cuDNN refuses
    last.emplace(KeptAttention{shape, Plan(attention_operation(shape), stream)});
  }
  const Binding bindings[] = {{kAttentionQ, of.q},
                              {kAttentionK, of.k},
                              {kAttentionV, of.v},
                              {kAttentionOut, of.out},
                              {kAttentionScale, &p.scale}};
  last->plan.execute(bindings, stream);
}

bool is_of_16_bits(Dtype dtype) { return dtype == Dtype::f16 || dtype == Dtype::bf16; }

} // namespace

const Table<AttentionVariant> attention_table = {
    {"cublas", "cublas", "cudnn"},
    {"cudnn", "", "", is_of_16_bits, attention_in_one_call},
};

} // namespace kg::vendor
