// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/conv2d/conv2d.h"

#include "vendor/host/onednn.h"

namespace kg::vendor {
namespace onednn {
namespace {

using dnnl::memory;

struct Convolution {
  memory::desc x, weights, bias, y;
  memory::dims strides, dilation, before, after;
};

// batch or filters x channels x height x width, in one of the two orders.
memory::dims strides_of(conv2d::Layout layout, std::int64_t channels, std::int64_t height,
                        std::int64_t width) {
  const std::int64_t outer = channels * height * width;
  if (layout == conv2d::Layout::nhwc) return {outer, 1, width * channels, channels};
  return {outer, height * width, width, 1};
}

// oneDNN counts the elements between taps as dilation, and has groups as an axis of the weights.
Convolution describe(memory::data_type type, const conv2d::Geometry& g) {
  const conv2d::Axis& v = g.vertical;
  const conv2d::Axis& h = g.horizontal;
  const auto image = [&](std::int64_t channels, std::int64_t height, std::int64_t width) {
    return memory::desc({g.batch, channels, height, width}, type,
                        strides_of(g.layout, channels, height, width));
  };
  memory::dims filters = {g.out_channels, g.group_inputs(), v.kernel, h.kernel};
  memory::dims steps = strides_of(g.layout, g.group_inputs(), v.kernel, h.kernel);
  if (g.groups > 1) {
    filters[0] = g.group_outputs();
    filters.insert(filters.begin(), g.groups);
    steps.insert(steps.begin(), g.group_outputs() * g.depth());
  }
  return {image(g.in_channels, g.height, g.width),
          memory::desc(filters, type, steps),
          vector(type, g.out_channels),
          image(g.out_channels, g.out_height(), g.out_width()),
          {v.stride, h.stride},
          {v.dilation - 1, h.dilation - 1},
          {v.pad_before, h.pad_before},
          {v.pad_after, h.pad_after}};
}

dnnl::convolution_forward::primitive_desc forward(const Convolution& c, bool has_bias) {
  constexpr auto kKind = dnnl::prop_kind::forward_inference;
  constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
#if DNNL_VERSION_MAJOR >= 3
  if (!has_bias)
    return {engine(), kKind,     kAlgorithm, c.x,      c.weights,
            c.y,      c.strides, c.dilation, c.before, c.after};
  return {engine(), kKind,     kAlgorithm, c.x,      c.weights, c.bias,
          c.y,      c.strides, c.dilation, c.before, c.after};
#else
  if (!has_bias)
    return {{kKind, kAlgorithm, c.x, c.weights, c.y, c.strides, c.dilation, c.before, c.after},
            engine()};
  return {
      {kKind, kAlgorithm, c.x, c.weights, c.bias, c.y, c.strides, c.dilation, c.before, c.after},
      engine()};
#endif
}

bool conv2d_supported(Dtype dtype, const conv2d::Geometry& geometry) {
  const auto type = type_of(dtype);
  return type && creatable([&] { forward(describe(*type, geometry), true); });
}

// In the layout that the caller has. One arithmetic only: f32 sums.
void conv2d(const Conv2d& problem, Math, Stream&) {
  translate("conv2d", [&] {
    const Convolution c = describe(type_of(problem.dtype).value(), problem.geometry);
    Arguments arguments = {{DNNL_ARG_SRC, wrap(c.x, problem.x)},
                           {DNNL_ARG_WEIGHTS, wrap(c.weights, problem.weights)},
                           {DNNL_ARG_DST, wrap(c.y, problem.y)}};
    if (problem.bias != nullptr) arguments.insert({DNNL_ARG_BIAS, wrap(c.bias, problem.bias)});
    execute(dnnl::convolution_forward(forward(c, problem.bias != nullptr)), arguments);
  });
}

} // namespace
} // namespace onednn

namespace {

constexpr Conv2dVariant kTable[] = {
    {"onednn", onednn::conv2d_supported, onednn::conv2d},
};

} // namespace

std::span<const Conv2dVariant> conv2d_table() { return kTable; }

} // namespace kg::vendor
