// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/conv2d_backward.h"

#include "vendor/host/onednn_conv2d.h"

namespace kg::vendor {
namespace onednn {
namespace {

using conv2d_backward::Gradient;
using dnnl::algorithm;
using dnnl::memory;

dnnl::primitive of_input(const Convolution& c) {
  const auto forward = convolution_forward(c, dnnl::prop_kind::forward_training, false);
  using Backward = dnnl::convolution_backward_data;
  constexpr auto kAlgorithm = algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return Backward({engine(), kAlgorithm, c.x, c.weights, c.y, c.strides, c.dilation, c.before,
                   c.after, forward});
#else
  return Backward({{kAlgorithm, c.x, c.weights, c.y, c.strides, c.dilation, c.before, c.after},
                   engine(),
                   forward});
#endif
}

dnnl::primitive of_weights(const Convolution& c) {
  const auto forward = convolution_forward(c, dnnl::prop_kind::forward_training, false);
  using Backward = dnnl::convolution_backward_weights;
  constexpr auto kAlgorithm = algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  return Backward({engine(), kAlgorithm, c.x, c.weights, c.y, c.strides, c.dilation, c.before,
                   c.after, forward});
#else
  return Backward({{kAlgorithm, c.x, c.weights, c.y, c.strides, c.dilation, c.before, c.after},
                   engine(),
                   forward});
#endif
}

// One element per channel, as a sum over the other axes of dy has it.
memory::desc channels_of(memory::data_type type, const conv2d::Geometry& g) {
  return {{1, g.out_channels, 1, 1}, type, memory::format_tag::nchw};
}

// oneDNN has this gradient beside that of the weights alone.
dnnl::primitive of_bias(const memory::desc& dy, const memory::desc& channels) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::reduction({engine(), algorithm::reduction_sum, dy, channels, 0.0F, 0.0F});
#else
  return dnnl::reduction({{algorithm::reduction_sum, dy, channels, 0.0F, 0.0F}, engine()});
#endif
}

dnnl::primitive primitive_of(Gradient gradient, memory::data_type type, const conv2d::Geometry& g) {
  const Convolution c = describe_convolution(type, g);
  if (gradient == Gradient::bias) return of_bias(c.y, channels_of(type, g));
  return gradient == Gradient::input ? of_input(c) : of_weights(c);
}

bool conv2d_backward_supported(Gradient gradient, Dtype dtype, const conv2d::Geometry& geometry) {
  const auto type = type_of(dtype);
  return type && creatable([&] { primitive_of(gradient, *type, geometry); });
}

// In the layout that the caller has. One arithmetic only: f32 sums.
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

std::span<const Conv2dBackwardVariant> conv2d_backward_table() {
  static constexpr Conv2dBackwardVariant kTable[] = {
      {"onednn", onednn::conv2d_backward_supported, onednn::conv2d_backward}};
  return kTable;
}

} // namespace kg::vendor
