// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The input's gradient as convolutions of dy. Plain C++.
//
// Along an axis of stride s, dilation d and padding p, window w contributes to dx at coordinate i
// by tap r if w s - p + r d = i. Coordinates equal modulo s have the same taps: every R-th one, R =
// s / gcd(s, d), with consecutive windows. The elements of such a phase are the outputs of a
// convolution of dy with stride 1, whose taps, in reverse order, are D = d / gcd(s, d) apart.
#pragma once

#include "ops/conv2d/geometry.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace kg::conv2d_backward {

struct Phase {
  std::int64_t first;     // coordinate of x; the next ones are `stride` apart
  std::int64_t count;     // elements of the phase; may be 0
  std::int64_t first_tap; // of the forward operation; the next ones are `tap_step` apart
  std::int64_t tap_step;
  conv2d::Axis windows; // over dy; kernel 0: no tap reaches these coordinates
  std::int64_t skipped; // outputs before `first`
};

// Phase `first` of `axis.stride` phases of an axis with `in` elements of x and `out` elements of y.
inline Phase phase_of(const conv2d::Axis& axis, std::int64_t in, std::int64_t out,
                      std::int64_t first) {
  const std::int64_t divisor = std::gcd(axis.stride, axis.dilation);
  Phase phase{first, first < in ? div_up(in - first, axis.stride) : 0, 0, axis.stride / divisor, {},
              0};
  const auto reach = [&](std::int64_t tap) { // from tap 0 of a window
    return first + axis.pad_before - tap * axis.dilation;
  };
  while (phase.first_tap < phase.tap_step && reach(phase.first_tap) % axis.stride != 0)
    ++phase.first_tap;
  const bool has_taps = phase.first_tap < phase.tap_step && phase.first_tap < axis.kernel;
  phase.windows.kernel = has_taps ? div_up(axis.kernel - phase.first_tap, phase.tap_step) : 0;
  if (!has_taps) return phase;
  // The window whose first tap of the phase is at `first` becomes the first output's last tap,
  // through padding. If the padding would be negative, the outputs before it are skipped instead.
  phase.windows.dilation = axis.dilation / divisor;
  const std::int64_t before = phase.windows.extent() - 1 - reach(phase.first_tap) / axis.stride;
  phase.windows.pad_before = std::max<std::int64_t>(before, 0);
  phase.skipped = phase.windows.pad_before - before;
  const std::int64_t padded = out + phase.windows.pad_before;
  const std::int64_t needed = phase.skipped + phase.count + phase.windows.extent() - 1;
  phase.windows.pad_after = std::max<std::int64_t>(needed - padded, 0);
  return phase;
}

// The convolution of dy whose outputs are the phases' elements of dx.
inline conv2d::Geometry geometry_of(const conv2d::Geometry& g, const Phase& down,
                                    const Phase& across) {
  return {g.batch,      g.out_channels, g.out_height(), g.out_width(), g.in_channels,
          down.windows, across.windows, g.groups,       g.layout};
}

// Whether that convolution computes all of dx.
inline bool is_all_of_dx(const conv2d::Geometry& g, const Phase& down, const Phase& across) {
  const conv2d::Geometry turned = geometry_of(g, down, across);
  return g.vertical.stride == 1 && g.horizontal.stride == 1 && down.skipped == 0 &&
         across.skipped == 0 && turned.out_height() == g.height && turned.out_width() == g.width;
}

// Calls use(down, across) for each pair of phases that has elements.
template <class Use>
void each_phase(const conv2d::Geometry& g, Use use) {
  for (std::int64_t i = 0; i < std::min(g.vertical.stride, g.height); ++i)
    for (std::int64_t j = 0; j < std::min(g.horizontal.stride, g.width); ++j)
      use(phase_of(g.vertical, g.height, g.out_height(), i),
          phase_of(g.horizontal, g.width, g.out_width(), j));
}

} // namespace kg::conv2d_backward
