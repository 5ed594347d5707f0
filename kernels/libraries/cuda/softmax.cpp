// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/softmax.h"

#include "libraries/cuda/cudnn.h"

namespace kg::vendor {
namespace cudnn {
namespace {

bool softmax_supported(softmax::Kind, Dtype dtype) { return type_of(dtype).has_value(); }

// Mode "instance" normalises over C, H, W of each N. For (N, C, 1, 1) mode "channel" computes the
// same, but is slow (measured in Chainer's pull request 4261).
void softmax(softmax::Kind kind, Dtype dtype, const void* x, void* y, std::int64_t rows,
             std::int64_t cols, Stream& stream) {
  const Tensor each(type_of(dtype).value(), rows, cols);
  const auto algorithm =
      kind == softmax::Kind::softmax ? CUDNN_SOFTMAX_ACCURATE : CUDNN_SOFTMAX_LOG;
  KG_CHECK(cudnnSoftmaxForward(handle_on(stream), algorithm, CUDNN_SOFTMAX_MODE_INSTANCE, &kOne,
                               each.get(), x, &kZero, each.get(), y));
}

} // namespace
} // namespace cudnn

const Table<SoftmaxVariant> softmax_table = {{"cudnn", cudnn::softmax_supported, cudnn::softmax}};

} // namespace kg::vendor
