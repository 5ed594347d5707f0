// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/conv2d_backward.h"

#include "libraries/host/onednn_conv2d.h"
#include "libraries/host/onednn_reduction.h"

namespace kg::vendor {
namespace onednn {
namespace {

using conv2d_backward::Gradient;
using dnnl::memory;

// Gradient of the input or of the weights.
template <class Backward>
dnnl::primitive of_product(const Convolution& c) {
  const auto forward = convolution_forward(c, dnnl::prop_kind::forward_training, false);
  return Backward(describe_backward<Backward>(forward, kConvolution, c.x, c.weights, c.y, c.strides,
                                              c.dilation, c.before, c.after));
}

// One element per channel, like the sum of dy over its other axes.
memory::desc channels_of(memory::data_type type, const conv2d::Geometry& g) {
  return {{1, g.out_channels, 1, 1}, type, memory::format_tag::nchw};
}

dnnl::primitive primitive_of(Gradient gradient, memory::data_type type, const conv2d::Geometry& g) {
  const Convolution c = describe_convolution(type, g);
  if (gradient == Gradient::input) return of_product<dnnl::convolution_backward_data>(c);
  if (gradient == Gradient::weights) return of_product<dnnl::convolution_backward_weights>(c);
  // oneDNN has the gradient of the bias only together with that of the weights.
  return make_reduction(dnnl::algorithm::reduction_sum, c.y, channels_of(type, g));
}

bool conv2d_backward_supported(Gradient gradient, Dtype dtype, const conv2d::Geometry& geometry) {
  return offers(type_of(dtype),
                [&](memory::data_type type) { primitive_of(gradient, type, geometry); });
}

// In the caller's layout. There is only one arithmetic: f32 sums.
void conv2d_backward(const Conv2dBackward& problem, Math, Stream&) {
  translate("conv2d_backward", [&] {
    const memory::data_type type = type_of(problem.dtype).value();
    const Convolution c = describe_convolution(type, problem.geometry);
    Arguments arguments;
    switch (problem.gradient) {
    case Gradient::input:
      arguments = {{DNNL_ARG_DIFF_DST, wrap(c.y, problem.dy)},
                   {DNNL_ARG_WEIGHTS, wrap(c.weights, problem.weights)},
                   {DNNL_ARG_DIFF_SRC, wrap(c.x, problem.result)}};
      break;
    case Gradient::weights:
      arguments = {{DNNL_ARG_DIFF_DST, wrap(c.y, problem.dy)},
                   {DNNL_ARG_SRC, wrap(c.x, problem.x)},
                   {DNNL_ARG_DIFF_WEIGHTS, wrap(c.weights, problem.result)}};
      break;
    case Gradient::bias:
      arguments = {{DNNL_ARG_SRC, wrap(c.y, problem.dy)},
                   {DNNL_ARG_DST, wrap(channels_of(type, problem.geometry), problem.result)}};
      break;
    }
    execute(primitive_of(problem.gradient, type, problem.geometry), arguments);
  });
}

} // namespace
} // namespace onednn

const Table<Conv2dBackwardVariant> conv2d_backward_table = {
    {"onednn", onednn::conv2d_backward_supported, onednn::conv2d_backward}};

} // namespace kg::vendor
