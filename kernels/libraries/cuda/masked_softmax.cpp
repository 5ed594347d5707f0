// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/masked_softmax.h"

#include "libraries/cuda/op_tensor.h"
#include "libraries/softmax.h"

namespace kg::vendor {
namespace cudnn {
namespace {

bool masked_softmax_supported(Dtype dtype) { return type_of(dtype).has_value(); }

void masked_softmax(const MaskedSoftmaxProblem& problem, const void* x, const void* addend, void* y,
                    Stream& stream) {
  const auto& [dtype, scale, sequences, queries, cols] = problem;
  op_tensor(CUDNN_OP_TENSOR_ADD, dtype,
            {{1, 1, sequences, queries, cols}, {1, 1, 1, queries, cols}}, {.a = scale}, x, addend,
            y, stream);
  softmax("cudnn", softmax::Kind::softmax, dtype, y, y, sequences * queries, cols, stream);
}

} // namespace
} // namespace cudnn

const Table<MaskedSoftmaxVariant> masked_softmax_table = {
    {"cudnn", cudnn::masked_softmax_supported, cudnn::masked_softmax}};

} // namespace kg::vendor
