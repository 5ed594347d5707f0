// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A pooling problem: what pooling, its backward pass and their vendors are asked for. Plain C++.
#pragma once

#include "runtime/error.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kg::pooling {

// average_include_padding divides by the taps of the window that lie in the input or in its
// declared padding, average_exclude_padding by those in the input alone.
enum class Kind { max, average_include_padding, average_exclude_padding };
inline constexpr Kind kKinds[] = {Kind::max, Kind::average_include_padding,
                                  Kind::average_exclude_padding};
constexpr std::string_view name(Kind kind) {
  switch (kind) {
  case Kind::max: return "max";
  case Kind::average_include_padding: return "average_include_padding";
  case Kind::average_exclude_padding: return "average_exclude_padding";
  }
  return "";
}

enum class Layout { nchw, nhwc };
constexpr std::string_view name(Layout layout) { return layout == Layout::nchw ? "nchw" : "nhwc"; }

// The windows along one axis. Window o begins o * stride - pad_before elements from the input's
// start and has `kernel` taps, `dilation` elements apart.
struct Axis {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad_before = 0;
  std::int64_t pad_after = 0;
  std::int64_t dilation = 1;

  // From a window's first to its last tap, both included.
  constexpr std::int64_t extent() const { return dilation * (kernel - 1) + 1; }
};

// How many windows an axis of `in` elements has. Without ceil mode: those that end within the
// padded input. With it: one more where elements remain behind them, provided that it begins inside
// the input or the padding before it, which is PyTorch's rule (aten/src/ATen/native/Pool.h,
// pooling_output_shape) for all paddings it permits. oneDNN has no such mode; there it is more
// padding behind.
constexpr std::int64_t window_count(std::int64_t in, const Axis& axis, bool ceil_mode) {
  const std::int64_t slack = in + axis.pad_before + axis.pad_after - axis.extent();
  const std::int64_t whole = slack < 0 ? 0 : slack / axis.stride + 1;
  const bool remain = slack < 0 ? slack + axis.stride > 0 : slack % axis.stride > 0;
  const bool begins_inside = whole * axis.stride < in + axis.pad_before;
  return whole + (ceil_mode && remain && begins_inside ? 1 : 0);
}

// Whether all windows end within the padded input, so that each average that includes padding
// divides by the kernel's area.
constexpr bool windows_fit(std::int64_t in, const Axis& axis, bool ceil_mode) {
  return window_count(in, axis, ceil_mode) == window_count(in, axis, false);
}

// Whether each window has a tap in the input: the first and the last one reach it, and no window
// steps over it. What a library makes of other windows differs.
constexpr bool windows_have_input(std::int64_t in, const Axis& axis, bool ceil_mode) {
  const std::int64_t last = (window_count(in, axis, ceil_mode) - 1) * axis.stride;
  return axis.pad_before < axis.extent() && last < in + axis.pad_before && axis.dilation <= in;
}

// x is batch x channels x height x width, y batch x channels x out_height() x out_width(); both
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

  // One window, and it is the input: global pooling.
  constexpr bool is_global() const {
    return vertical.kernel == height && horizontal.kernel == width && vertical.extent() == height &&
           horizontal.extent() == width && vertical.pad_before == 0 && vertical.pad_after == 0 &&
           horizontal.pad_before == 0 && horizontal.pad_after == 0;
  }
};

// Coordinates have 32 bits in the kernels, and so have sums of two of them.
inline constexpr std::int64_t kMostExtent = (std::int64_t{1} << 30) - 1;

inline void require_between(const std::string& what, std::int64_t value, std::int64_t least) {
  require(value >= least && value <= kMostExtent, what + " is " + std::to_string(value) +
                                                      "; it must be from " + std::to_string(least) +
                                                      " to " + std::to_string(kMostExtent));
}

inline void require_axis(const std::string& what, std::int64_t in, const Axis& axis,
                         bool ceil_mode) {
  require_between(what + " extent of x", in, 1);
  require_between(what + " kernel", axis.kernel, 1);
  require_between(what + " stride", axis.stride, 1);
  require_between(what + " pad_before", axis.pad_before, 0);
  require_between(what + " pad_after", axis.pad_after, 0);
  require_between(what + " dilation", axis.dilation, 1);
  require_between(what + " extent of a window", axis.extent(), 1);
  require_between(what + " extent of x with its padding", in + axis.pad_before + axis.pad_after, 1);
  require(window_count(in, axis, ceil_mode) > 0,
          what + " extent " + std::to_string(in) + " with paddings " +
              std::to_string(axis.pad_before) + " and " + std::to_string(axis.pad_after) +
              " has no room for a window of " + std::to_string(axis.extent()) +
              "; use a smaller kernel or more padding");
}

// Throws Error unless batch and channels are >= 0, extents, kernels, strides and dilations >= 1,
// paddings >= 0, none of these nor a padded extent beyond kMostExtent, and each axis has a window.
// `what` begins the message.
inline void require_problem(const std::string& what, const Problem& problem) {
  require_between(what + ": batch", problem.batch, 0);
  require_between(what + ": channels", problem.channels, 0);
  require_axis(what + ": vertical", problem.height, problem.vertical, problem.ceil_mode);
  require_axis(what + ": horizontal", problem.width, problem.horizontal, problem.ceil_mode);
}

} // namespace kg::pooling
