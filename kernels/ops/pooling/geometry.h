// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The windows as kernels see them. Both layouts are outer x height x width x inner, dense. nchw has
// outer = batch * channels and inner = 1; nhwc has outer = batch and inner = channels.
#pragma once

#include "ops/pooling/problem.h"
#include "primitives/window_taps.h"
#include "runtime/device_code.h"

#include <cstdint>

namespace kg::pooling {

using window::count_threads;
using window::Line;
using window::line_of;
using window::Place;
using window::place_of;
using window::Taps;
using window::taps_of;

// The divisor of an average.
__device__ inline std::int64_t counted_taps(const Taps& down, const Taps& across,
                                            bool include_padding) {
  return include_padding
             ? static_cast<std::int64_t>(down.padded_end) * across.padded_end
             : static_cast<std::int64_t>(down.end - down.first) * (across.end - across.first);
}

struct Geometry {
  std::int64_t outer, inner;
  Line vertical, horizontal;
  std::int64_t x_plane, y_plane; // elements per outer plane

  explicit Geometry(const Problem& p) {
    const bool last = p.layout == Layout::nhwc;
    outer = last ? p.batch : p.planes();
    inner = last ? p.channels : 1;
    vertical =
        line_of(p.vertical, p.height, p.out_height(), inner * p.width, inner * p.out_width());
    horizontal = line_of(p.horizontal, p.width, p.out_width(), inner, inner);
    x_plane = inner * p.height * p.width;
    y_plane = inner * p.out_height() * p.out_width();
  }
};

} // namespace kg::pooling
