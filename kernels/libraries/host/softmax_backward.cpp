// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/softmax_backward.h"

#include "libraries/host/onednn_softmax.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

dnnl::primitive make_softmax_backward(softmax::Kind kind, const memory::desc& each) {
  const auto forward = softmax_forward(kind, each, dnnl::prop_kind::forward_training);
  return SoftmaxBackward(describe_backward<SoftmaxBackward>(forward, algorithm_of(kind), each, each,
                                                            each, kSoftmaxAxis));
}

bool softmax_backward_supported(softmax::Kind kind, Dtype dtype) {
  return offers(type_of(dtype), [&](memory::data_type type) {
    make_softmax_backward(kind, matrix(type, kProbe, kProbe));
  });
}

void softmax_backward(softmax::Kind kind, Dtype dtype, const void* y, const void* dy, void* dx,
                      std::int64_t rows, std::int64_t cols, Stream&) {
  translate("softmax_backward", [&] {
    const memory::desc each = matrix(type_of(dtype).value(), rows, cols);
    execute(make_softmax_backward(kind, each), {{DNNL_ARG_DST, wrap(each, y)},
                                                {DNNL_ARG_DIFF_DST, wrap(each, dy)},
                                                {DNNL_ARG_DIFF_SRC, wrap(each, dx)}});
  });
}

} // namespace
} // namespace onednn

const Table<SoftmaxBackwardVariant> softmax_backward_table = {
    {"onednn", onednn::softmax_backward_supported, onednn::softmax_backward}};

} // namespace kg::vendor
