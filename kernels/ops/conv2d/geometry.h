// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The extents of a two-dimensional convolution, for all variants, vendor libraries and the backward
// pass. Plain C++.
#pragma once

#include "primitives/layout.h"
#include "primitives/window.h"

#include <cstdint>
#include <string>

namespace kg::conv2d {

using kg::Layout;
using window::Axis;

// x is batch x in_channels x height x width, y is batch x out_channels x out_height() x
// out_width(), and the weights are out_channels x group_inputs() x vertical.kernel x
// horizontal.kernel. All are dense, in this order (nchw) or with the input channels last (nhwc:
// weights OHWI). `vertical` has the top and bottom padding, `horizontal` the left and right
// padding. Output channels [g * group_outputs(), (g + 1) * group_outputs()) depend only on input
// channels [g * group_inputs(), (g + 1) * group_inputs()).
struct Geometry {
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t out_channels = 1;
  Axis vertical = {};
  Axis horizontal = {};
  std::int64_t groups = 1;
  Layout layout = Layout::nchw;

  constexpr std::int64_t out_height() const { return window::window_count(height, vertical); }
  constexpr std::int64_t out_width() const { return window::window_count(width, horizontal); }
  constexpr std::int64_t group_inputs() const { return in_channels / groups; }
  constexpr std::int64_t group_outputs() const { return out_channels / groups; }
  constexpr std::int64_t taps() const { return vertical.kernel * horizontal.kernel; }
  // Each output channel sees one input channel.
  constexpr bool is_depthwise() const { return groups == in_channels; }
  // Products per output: k of the equivalent matrix product.
  constexpr std::int64_t depth() const { return group_inputs() * taps(); }
  // Positions in an image of y.
  constexpr std::int64_t out_places() const { return out_height() * out_width(); }

  // Elements.
  constexpr std::int64_t inputs() const { return batch * in_channels * height * width; }
  constexpr std::int64_t weights() const { return out_channels * depth(); }
  constexpr std::int64_t outputs() const { return batch * out_channels * out_places(); }

  bool operator==(const Geometry&) const = default;
};

// Throws Error unless batch >= 0, channels >= 1, groups divides both numbers of channels, the axes
// are valid, and no sum has more than window::kMostExtent products. `what` begins the message.
inline void require_geometry(std::string_view what, const Geometry& g) {
  window::require_between({what, ": batch"}, g.batch, 0);
  window::require_between({what, ": in_channels"}, g.in_channels, 1);
  window::require_between({what, ": out_channels"}, g.out_channels, 1);
  window::require_between({what, ": groups"}, g.groups, 1);
  const auto require_divided = [&](const char* channels, std::int64_t value) {
    require(value % g.groups == 0, [&] {
      return std::string(what) + ": groups is " + std::to_string(g.groups) + "; it must divide " +
             channels + ", " + std::to_string(value);
    });
  };
  require_divided("in_channels", g.in_channels);
  require_divided("out_channels", g.out_channels);
  window::require_axis(what, "vertical", g.height, g.vertical);
  window::require_axis(what, "horizontal", g.width, g.horizontal);
  window::require_between({what, ": taps"}, g.taps(), 1);
  window::require_between({what, ": products of a sum"}, g.depth(), 1);
}

} // namespace kg::conv2d
