// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The oneDNN descriptions of conv2d and conv2d_backward.
#pragma once

#include "libraries/host/onednn.h"
#include "ops/conv2d/geometry.h"

namespace kg::vendor::onednn {

inline constexpr auto kConvolution = dnnl::algorithm::convolution_direct;

struct Convolution {
  dnnl::memory::desc x, weights, bias, y;
  dnnl::memory::dims strides, dilation, before, after;
};

// Strides of (batch or filters) x channels x height x width, stored as nchw or nhwc.
inline dnnl::memory::dims image_strides(conv2d::Layout layout, std::int64_t channels,
                                        std::int64_t height, std::int64_t width) {
  const std::int64_t outer = channels * height * width;
  if (layout == conv2d::Layout::nhwc) return {outer, 1, width * channels, channels};
  return {outer, height * width, width, 1};
}

// oneDNN's dilation counts the elements between taps. Groups are an axis of its weights.
inline Convolution describe_convolution(dnnl::memory::data_type type, const conv2d::Geometry& g) {
  const conv2d::Axis& v = g.vertical;
  const conv2d::Axis& h = g.horizontal;
  const auto image = [&](std::int64_t channels, std::int64_t height, std::int64_t width) {
    return dnnl::memory::desc({g.batch, channels, height, width}, type,
                              image_strides(g.layout, channels, height, width));
  };
  dnnl::memory::dims filters = {g.out_channels, g.group_inputs(), v.kernel, h.kernel};
  dnnl::memory::dims steps = image_strides(g.layout, g.group_inputs(), v.kernel, h.kernel);
  if (g.groups > 1) {
    filters[0] = g.group_outputs();
    filters.insert(filters.begin(), g.groups);
    steps.insert(steps.begin(), g.group_outputs() * g.depth());
  }
  return {image(g.in_channels, g.height, g.width),
          dnnl::memory::desc(filters, type, steps),
          vector(type, g.out_channels),
          image(g.out_channels, g.out_height(), g.out_width()),
          {v.stride, h.stride},
          {v.dilation - 1, h.dilation - 1},
          {v.pad_before, h.pad_before},
          {v.pad_after, h.pad_after}};
}

inline dnnl::convolution_forward::primitive_desc
convolution_forward(const Convolution& c, dnnl::prop_kind kind, bool has_bias) {
  using Forward = dnnl::convolution_forward;
  if (!has_bias)
    return describe<Forward>(kind, kConvolution, c.x, c.weights, c.y, c.strides, c.dilation,
                             c.before, c.after);
  return describe<Forward>(kind, kConvolution, c.x, c.weights, c.bias, c.y, c.strides, c.dilation,
                           c.before, c.after);
}

} // namespace kg::vendor::onednn
