// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sliding windows over the two spatial axes of an image, for pooling and convolution. Plain C++;
// window_taps.h is for kernels.
#pragma once

#include "runtime/preconditions.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace kg::window {

// The windows along one axis. Window o begins o * stride - pad_before elements from the input's
// start and has `kernel` taps, `dilation` elements apart.
struct Axis {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t pad_before = 0;
  std::int64_t pad_after = 0;
  std::int64_t dilation = 1;

  // From the first to the last tap of a window, inclusive.
  constexpr std::int64_t extent() const { return dilation * (kernel - 1) + 1; }

  bool operator==(const Axis&) const = default;
};

// The number of windows along an axis of `in` elements. Without ceil mode: those that end within
// the padded input. With ceil mode: one more if elements remain after them and it begins inside the
// input or the padding before it, as in PyTorch (aten/src/ATen/native/Pool.h,
// pooling_output_shape). oneDNN has no ceil mode; extra padding after the input gives the same.
constexpr std::int64_t window_count(std::int64_t in, const Axis& axis, bool ceil_mode = false) {
  const std::int64_t slack = in + axis.pad_before + axis.pad_after - axis.extent();
  const std::int64_t whole = slack < 0 ? 0 : slack / axis.stride + 1;
  const bool remain = slack < 0 ? slack + axis.stride > 0 : slack % axis.stride > 0;
  const bool begins_inside = whole * axis.stride < in + axis.pad_before;
  return whole + (ceil_mode && remain && begins_inside ? 1 : 0);
}

// Kernels use 32-bit coordinates; a sum of two of them must fit as well.
inline constexpr std::int64_t kMostExtent = (std::int64_t{1} << 30) - 1;

inline void require_between(const Argument& what, std::int64_t value, std::int64_t least) {
  require(value >= least && value <= kMostExtent, [&] {
    return what.text() + " is " + std::to_string(value) + "; it must be from " +
           std::to_string(least) + " to " + std::to_string(kMostExtent);
  });
}

// Throws Error unless extents, kernel, stride and dilation are >= 1, paddings >= 0, all of these
// and the padded extent <= kMostExtent, and the axis has a window. The message starts with `op` and
// `name`, the name of the axis.
inline void require_axis(std::string_view op, std::string_view name, std::int64_t in,
                         const Axis& axis, bool ceil_mode = false) {
  const auto require_from = [&](std::int64_t least, std::string_view what, std::int64_t value) {
    require_between({op, ": ", name, what}, value, least);
  };
  require_from(1, " extent of x", in);
  require_from(1, " kernel", axis.kernel);
  require_from(1, " stride", axis.stride);
  require_from(0, " pad_before", axis.pad_before);
  require_from(0, " pad_after", axis.pad_after);
  require_from(1, " dilation", axis.dilation);
  require_from(1, " extent of a window", axis.extent());
  require_from(1, " extent of x with its padding", in + axis.pad_before + axis.pad_after);
  require(window_count(in, axis, ceil_mode) > 0, [&] {
    return Argument(op, ": ", name).text() + " extent " + std::to_string(in) + " with paddings " +
           std::to_string(axis.pad_before) + " and " + std::to_string(axis.pad_after) +
           " has no room for a window of " + std::to_string(axis.extent()) +
           "; use a smaller kernel or more padding";
  });
}

} // namespace kg::window
