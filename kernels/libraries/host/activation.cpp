// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/activation.h"

#include "libraries/host/onednn_eltwise.h"

namespace kg::vendor {
namespace onednn {
namespace {

dnnl::primitive make_activation(activation::Function function, const dnnl::memory::desc& each) {
  return dnnl::eltwise_forward(make_eltwise(dnnl::prop_kind::forward_inference, function, each));
}

bool activation_supported(activation::Function function, Dtype dtype) {
  return offers(type_of(dtype), [&](dnnl::memory::data_type type) {
    make_activation(function, vector(type, kProbe));
  });
}

void activation(activation::Function function, Dtype dtype, const void* x, void* y, std::int64_t n,
                Stream&) {
  translate("activation", [&] {
    const dnnl::memory::desc each = vector(type_of(dtype).value(), n);
    execute(make_activation(function, each),
            {{DNNL_ARG_SRC, wrap(each, x)}, {DNNL_ARG_DST, wrap(each, y)}});
  });
}

} // namespace
} // namespace onednn

const Table<ActivationVariant> activation_table = {
    {"onednn", onednn::activation_supported, onednn::activation}};

} // namespace kg::vendor
