// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One thread per element of dx searches each of its windows for the maximum again: the simplest
// code.
#pragma once

#include "ops/pooling_backward/gather.h"

namespace kg::pooling_backward {

// Whether the maximum of the window at (i, j) is its tap (tap_down, tap_across). `x` points to the
// channel of the outer plane.
template <class T>
__device__ bool is_maximum(const T* x, const Geometry& g, int i, int j, int tap_down,
                           int tap_across) {
  const Taps down = pooling::taps_of(g.vertical, i);
  const Taps across = pooling::taps_of(g.horizontal, j);
  int first_down = down.first;
  int first_across = across.first;
  float most = pooling::Max::kIdentity;
  for (int u = down.first; u < down.end; ++u) {
    const std::int64_t row = (down.start + u * g.vertical.dilation) * g.vertical.x_step;
    for (int v = across.first; v < across.end; ++v) {
      const std::int64_t column = (across.start + v * g.horizontal.dilation) * g.horizontal.x_step;
      const float value = to_float(x[row + column]);
      if (!exceeds(value, most)) continue;
      most = value;
      first_down = u;
      first_across = v;
    }
  }
  return first_down == tap_down && first_across == tap_across;
}

template <bool Maximum, class T>
__global__ void __launch_bounds__(kThreads)
    naive(const T* x, const T* dy, T* dx, Geometry g, bool include_padding, unsigned inputs) {
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= inputs) return;
  const Place at =
      place_of(index, static_cast<unsigned>(g.inner), 1, g.horizontal.in, g.vertical.in);
  const Windows down = windows_over(g.vertical, at.row);
  const Windows across = windows_over(g.horizontal, at.column);
  float sum = 0;
  for (int i = down.first; i < down.end; ++i) {
    const int tap_down = tap_at(g.vertical, i, at.row);
    if (tap_down < 0) continue;
    for (int j = across.first; j < across.end; ++j) {
      const int tap_across = tap_at(g.horizontal, j, at.column);
      if (tap_across < 0) continue;
      const float value = to_float(
          dy[at.outer * g.y_plane + i * g.vertical.y_step + j * g.horizontal.y_step + at.inner]);
      if constexpr (Maximum) {
        if (is_maximum(x + (at.outer * g.x_plane + at.inner), g, i, j, tap_down, tap_across))
          sum += value;
      } else {
        sum += value / divisor(g, i, j, include_padding);
      }
    }
  }
  dx[index] = from_float<T>(sum);
}

} // namespace kg::pooling_backward
