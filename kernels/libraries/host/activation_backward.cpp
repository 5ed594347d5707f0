// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/activation_backward.h"

#include "libraries/host/onednn_eltwise.h"

namespace kg::vendor {
namespace onednn {
namespace {

bool backward_supported(activation::Function function, Dtype dtype) {
  return offers(type_of(dtype), [&](dnnl::memory::data_type type) {
    const dnnl::memory::desc each = vector(type, kProbe);
    make_eltwise_backward(function, each, each);
  });
}

void backward(activation::Function function, Dtype dtype, const void* x, const void*,
              const void* dy, void* dx, std::int64_t n, Stream&) {
  translate("activation_backward", [&] {
    const dnnl::memory::desc each = vector(type_of(dtype).value(), n);
    execute(make_eltwise_backward(function, each, each), {{DNNL_ARG_SRC, wrap(each, x)},
                                                          {DNNL_ARG_DIFF_DST, wrap(each, dy)},
                                                          {DNNL_ARG_DIFF_SRC, wrap(each, dx)}});
  });
}

} // namespace
} // namespace onednn

const Table<ActivationBackwardVariant> activation_backward_table = {
    {"onednn", onednn::backward_supported, onednn::backward}};

} // namespace kg::vendor
