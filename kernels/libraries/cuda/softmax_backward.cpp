// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/softmax_backward.h"

#include "libraries/cuda/cudnn.h"

namespace kg::vendor {
namespace cudnn {
namespace {

bool softmax_backward_supported(softmax::Kind, Dtype dtype) { return type_of(dtype).has_value(); }

// Mode "instance", for the reason given in libraries/cuda/softmax.cpp.
void softmax_backward(softmax::Kind kind, Dtype dtype, const void* y, const void* dy, void* dx,
                      std::int64_t rows, std::int64_t cols, Stream& stream) {
  const Tensor each(type_of(dtype).value(), rows, cols);
  const auto algorithm =
      kind == softmax::Kind::softmax ? CUDNN_SOFTMAX_ACCURATE : CUDNN_SOFTMAX_LOG;
  KG_CHECK(cudnnSoftmaxBackward(handle_on(stream), algorithm, CUDNN_SOFTMAX_MODE_INSTANCE, &kOne,
                                each.get(), y, each.get(), dy, &kZero, each.get(), dx));
}

} // namespace
} // namespace cudnn

const Table<SoftmaxBackwardVariant> softmax_backward_table = {
    {"cudnn", cudnn::softmax_backward_supported, cudnn::softmax_backward}};

} // namespace kg::vendor
