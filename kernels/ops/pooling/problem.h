// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A pooling problem: the input of pooling, its backward pass and vendor libraries. Plain C++.
#pragma once

#include "primitives/layout.h"
#include "primitives/window.h"
#include "runtime/enumerators.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kg::pooling {

// average_include_padding divides by the window's taps in the input and its declared padding,
// average_exclude_padding by its taps in the input alone.
enum class Kind { max, average_include_padding, average_exclude_padding };
inline constexpr Kind kKinds[] = {Kind::max, Kind::average_include_padding,
                                  Kind::average_exclude_padding};
using kg::name;

using kg::Layout;
using window::Axis;
using window::window_count;

// Whether all windows end within the padded input, so that each average that includes padding
// divides by the kernel's area.
constexpr bool windows_fit(std::int64_t in, const Axis& axis, bool ceil_mode) {
  return window_count(in, axis, ceil_mode) == window_count(in, axis, false);
}

// Whether each window has a tap in the input: the first and last windows reach the input, and no
// window steps over it. Libraries differ on other windows.
constexpr bool windows_have_input(std::int64_t in, const Axis& axis, bool ceil_mode) {
  const std::int64_t last = (window_count(in, axis, ceil_mode) - 1) * axis.stride;
  return axis.pad_before < axis.extent() && last < in + axis.pad_before && axis.dilation <= in;
}

// x is batch x channels x height x width, y batch x channels x out_height() x out_width(). Both are
// dense, in this order (nchw) or with the channels last (nhwc).
struct Problem {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  Axis vertical = {};
  Axis horizontal = {};
  bool ceil_mode = false;
  Layout layout = Layout::nchw;

  constexpr std::int64_t out_height() const { return window_count(height, vertical, ceil_mode); }
  constexpr std::int64_t out_width() const { return window_count(width, horizontal, ceil_mode); }
  constexpr std::int64_t planes() const { return batch * channels; }
  constexpr std::int64_t inputs() const { return planes() * height * width; }
  constexpr std::int64_t outputs() const { return planes() * out_height() * out_width(); }

  // Whether the only window is the whole input: global pooling.
  constexpr bool is_global() const {
    return vertical.kernel == height && horizontal.kernel == width && vertical.extent() == height &&
           horizontal.extent() == width && vertical.pad_before == 0 && vertical.pad_after == 0 &&
           horizontal.pad_before == 0 && horizontal.pad_after == 0;
  }
};

// Throws Error unless batch and channels are from 0 to window::kMostExtent and the axes are valid
// (window::require_axis). The message begins with `what`.
inline void require_problem(std::string_view what, const Problem& problem) {
  window::require_between({what, ": batch"}, problem.batch, 0);
  window::require_between({what, ": channels"}, problem.channels, 0);
  window::require_axis(what, "vertical", problem.height, problem.vertical, problem.ceil_mode);
  window::require_axis(what, "horizontal", problem.width, problem.horizontal, problem.ceil_mode);
}

} // namespace kg::pooling
