// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/activation_backward/activation_backward.h"

#include "vendor/host/eltwise.h"

namespace kg::vendor {
namespace onednn {
namespace {

dnnl::primitive make_backward(Activation function, const dnnl::memory::desc& each) {
  const auto hint = make_eltwise(dnnl::prop_kind::forward_training, function, each);
  const float parameter = parameter_of(function);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::eltwise_backward(
      {engine(), algorithm_of(function), each, each, each, parameter, hint});
#else
  return dnnl::eltwise_backward({{algorithm_of(function), each, each, parameter}, engine(), hint});
#endif
}

bool backward_supported(Activation function, Dtype dtype) {
  const auto type = type_of(dtype);
  return type && creatable([&] { make_backward(function, vector(*type, kProbe)); });
}

void backward(Activation function, Dtype dtype, const void* x, const void*, const void* dy,
              void* dx, std::int64_t n, Stream&) {
  translate("activation_backward", [&] {
    const dnnl::memory::desc each = vector(type_of(dtype).value(), n);
    execute(make_backward(function, each), {{DNNL_ARG_SRC, wrap(each, x)},
                                            {DNNL_ARG_DIFF_DST, wrap(each, dy)},
                                            {DNNL_ARG_DIFF_SRC, wrap(each, dx)}});
  });
}

} // namespace
} // namespace onednn

namespace {

constexpr ActivationBackwardVariant kTable[] = {
    {"onednn", onednn::backward_supported, onednn::backward},
};

} // namespace

std::span<const ActivationBackwardVariant> activation_backward_table() { return kTable; }

} // namespace kg::vendor
