// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of variant depthwise share: the windows of a strip, neighbours along one axis.
#pragma once

#include "conv2d/variants.h"
#include "primitives/stored_pack.h"

namespace kg::conv2d {

inline constexpr int kDepthwiseThreads = 256;

// Kernels that are known when a strip's code is made: square, of stride and dilation 1. 0: others.
inline int known_kernel(const Geometry& g) {
  const auto slides = [](const Axis& axis) { return axis.stride == 1 && axis.dilation == 1; };
  const std::int64_t kernel = g.vertical.kernel;
  const bool known = kernel == 3 || kernel == 5 || kernel == 7;
  return known && g.horizontal.kernel == kernel && slides(g.vertical) && slides(g.horizontal)
             ? static_cast<int>(kernel)
             : 0;
}

// Adds to `sum` the products of kStrip windows, from `first` on along one axis and `window` on the
// other, in the order of the taps. `from`: x at coordinate 0 of both. load(pointer): the elements
// of x there, as stored; weight(u, v): those of tap u across and v along. A kernel that is known
// slides: each element is loaded once for all windows of the strip that hold it. Padding along the
// strip adds 0 times its weight, so that loads need not wait for branches.
template <int kKernel, int kStrip, int Count, class T, class Load, class Weight>
__device__ __forceinline__ void
add_windows(const T* from, const window::Line& along, int first, const window::Line& across,
            int window, const Load& load, const Weight& weight, Floats<Count> (&sum)[kStrip]) {
  const auto element = [&](int at, const T* line) __attribute__((always_inline)) {
    StoredPack<T, Count> value{};
    if (at >= 0 && at < along.in) value = load(line + at * along.x_step);
    return value;
  };
  const auto add = [](Floats<Count> & to, const Floats<Count>& value, const Floats<Count>& weights)
      __attribute__((always_inline)) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e)
      to.value[e] = fmaf(value.value[e], weights.value[e], to.value[e]);
  };
  const window::Taps over = window::taps_of(across, window);
  for (int u = over.first; u < over.end; ++u) {
    const T* const line = from + (over.start + u * across.dilation) * across.x_step;
    if constexpr (kKernel > 0) {
      constexpr int kElements = kStrip + kKernel - 1;
      StoredPack<T, Count> stored[kElements];
      KG_UNROLL
      for (int c = 0; c < kElements; ++c) stored[c] = element(first - along.before + c, line);
      Floats<Count> weights[kKernel];
      KG_UNROLL
      for (int v = 0; v < kKernel; ++v) weights[v] = weight(u, v);
      loaded(stored);
      KG_UNROLL
      for (int c = 0; c < kElements; ++c) {
        const Floats<Count> value = widened(stored[c]);
        KG_UNROLL
        for (int s = 0; s < kStrip; ++s)
          if (c - s >= 0 && c - s < kKernel) add(sum[s], value, weights[c - s]);
      }
    } else {
      for (int v = 0; v < along.kernel; ++v) {
        StoredPack<T, Count> stored[kStrip];
        KG_UNROLL
        for (int s = 0; s < kStrip; ++s) {
          const int at = (first + s) * along.stride - along.before + v * along.dilation;
          stored[s] = element(at, line);
        }
        const Floats<Count> weights = weight(u, v);
        loaded(stored);
        KG_UNROLL
        for (int s = 0; s < kStrip; ++s) add(sum[s], widened(stored[s]), weights);
      }
    }
  }
}

} // namespace kg::conv2d
