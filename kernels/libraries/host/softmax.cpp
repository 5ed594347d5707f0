// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/softmax.h"

#include "libraries/host/onednn_softmax.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

dnnl::primitive make_softmax(softmax::Kind kind, const memory::desc& each) {
  return SoftmaxForward(softmax_forward(kind, each, dnnl::prop_kind::forward_inference));
}

bool softmax_supported(softmax::Kind kind, Dtype dtype) {
  return offers(type_of(dtype),
                [&](memory::data_type type) { make_softmax(kind, matrix(type, kProbe, kProbe)); });
}

// oneDNN stores bf16 exponentials in the output's type before it scales them: two roundings, up to
// 1.9 u from the exact value (measured, 2.6.3 and 3.2.0).
void softmax(softmax::Kind kind, Dtype dtype, const void* x, void* y, std::int64_t rows,
             std::int64_t cols, Stream&) {
  translate("softmax", [&] {
    const memory::desc each = matrix(type_of(dtype).value(), rows, cols);
    execute(make_softmax(kind, each),
            {{DNNL_ARG_SRC, wrap(each, x)}, {DNNL_ARG_DST, wrap(each, y)}});
  });
}

} // namespace
} // namespace onednn

const Table<SoftmaxVariant> softmax_table = {
    {"onednn", onednn::softmax_supported, onednn::softmax}};

} // namespace kg::vendor
