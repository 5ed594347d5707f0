// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Windows that slide over the two spatial axes of an image, as pooling and convolution ask for
// them. Plain C++; window_taps.h has what kernels see.
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

  // From a window's first to its last tap, both included.
  constexpr std::int64_t extent() const { return dilation * (kernel - 1) + 1; }

  bool operator==(const Axis&) const = default;
};

// How many windows an axis of `in` elements has. Without ceil mode: those that end within the
// padded input. With it: one more where elements remain behind them, provided that it begins inside
// the input or the padding before it, which is PyTorch's rule (aten/src/ATen/native/Pool.h,
// pooling_output_shape) for all paddings it permits. oneDNN has no such mode; there it is more
// padding behind.
constexpr std::int64_t window_count(std::int64_t in, const Axis& axis, bool ceil_mode = false) {
  const std::int64_t slack = in + axis.pad_before + axis.pad_after - axis.extent();
  const std::int64_t whole = slack < 0 ? 0 : slack / axis.stride + 1;
  const bool remain = slack < 0 ? slack + axis.stride > 0 : slack % axis.stride > 0;
  const bool begins_inside = whole * axis.stride < in + axis.pad_before;
  return whole + (ceil_mode && remain && begins_inside ? 1 : 0);
}

// Coordinates have 32 bits in the kernels, and so have sums of two of them.
inline constexpr std::int64_t kMostExtent = (std::int64_t{1} << 30) - 1;

inline void require_between(const Argument& what, std::int64_t value, std::int64_t least) {
  require(value >= least && value <= kMostExtent, [&] {
    return what.text() + " is " + std::to_string(value) + "; it must be from " +
           std::to_string(least) + " to " + std::to_string(kMostExtent);
  });
}

// Throws Error unless the extents, the kernel, the stride and the dilation are >= 1, paddings >= 0,
// none of these nor a padded extent beyond kMostExtent, and the axis has a window. `op` and `name`,
// the axis's, begin the message.
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
