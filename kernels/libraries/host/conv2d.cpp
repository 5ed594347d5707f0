// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/conv2d.h"

#include "libraries/host/onednn_conv2d.h"

namespace kg::vendor {
namespace onednn {
namespace {

constexpr auto kKind = dnnl::prop_kind::forward_inference;

bool conv2d_supported(Dtype dtype, const conv2d::Geometry& geometry) {
  return offers(type_of(dtype), [&](dnnl::memory::data_type type) {
    convolution_forward(describe_convolution(type, geometry), kKind, true);
  });
}

// In the caller's layout. There is only one arithmetic: f32 sums.
void conv2d(const Conv2d& problem, Math, Stream&) {
  translate("conv2d", [&] {
    const Convolution c = describe_convolution(type_of(problem.dtype).value(), problem.geometry);
    Arguments arguments = {{DNNL_ARG_SRC, wrap(c.x, problem.x)},
                           {DNNL_ARG_WEIGHTS, wrap(c.weights, problem.weights)},
                           {DNNL_ARG_DST, wrap(c.y, problem.y)}};
    if (problem.bias != nullptr) arguments.insert({DNNL_ARG_BIAS, wrap(c.bias, problem.bias)});
    execute(dnnl::convolution_forward(convolution_forward(c, kKind, problem.bias != nullptr)),
            arguments);
  });
}

} // namespace
} // namespace onednn

const Table<Conv2dVariant> conv2d_table = {{"onednn", onednn::conv2d_supported, onednn::conv2d}};

} // namespace kg::vendor
