// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the kernels of variant depthwise: windows of a strip of neighbours along one axis.
#pragma once

#include "ops/conv2d/variants.h"
#include "primitives/unpack_pairs.h"

namespace kg::conv2d {

inline constexpr int kDepthwiseThreads = 256;

// Kernel size for specialized code: square, stride and dilation 1. 0: generic code.
inline int known_kernel(const Geometry& g) {
  const auto slides = [](const Axis& axis) { return axis.stride == 1 && axis.dilation == 1; };
  const std::int64_t kernel = g.vertical.kernel;
  const bool known = kernel == 3 || kernel == 5 || kernel == 7;
  return known && g.horizontal.kernel == kernel && slides(g.vertical) && slides(g.horizontal)
             ? static_cast<int>(kernel)
             : 0;
}

// The elements of x at coordinate `at` of a line; zeros outside.
template <int Count, class T, class Load>
__device__ __forceinline__ StoredPack<T, Count> element_at(const T* line, const window::Line& along,
                                                           int at, const Load& load) {
  StoredPack<T, Count> value{};
  if (at >= 0 && at < along.in) value = load(line + at * along.x_step);
  return value;
}

template <int Count>
__device__ __forceinline__ void add(Floats<Count>& to, const Floats<Count>& value,
                                    const Floats<Count>& weights) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e) to.value[e] = fmaf(value.value[e], weights.value[e], to.value[e]);
}

// Adds a line's contribution to the windows of a strip, each shifted by one position.
template <int kKernel, int kStrip, int Count, class T>
__device__ __forceinline__ void slide(StoredPack<T, Count> (&stored)[kStrip + kKernel - 1],
                                      const Floats<Count> (&weights)[kKernel],
                                      Floats<Count> (&sum)[kStrip]) {
  KG_UNROLL
  for (int c = 0; c < kStrip + kKernel - 1; ++c) {
    const Floats<Count> value = unpack_pairs(stored[c]);
    KG_UNROLL
    for (int s = 0; s < kStrip; ++s)
      if (c - s >= 0 && c - s < kKernel) add(sum[s], value, weights[c - s]);
  }
}

// Adds to `sum` the products of kStrip windows, starting at `first` along one axis and at `window`
// on the other, tap by tap. from: x at coordinate 0 of both axes. load(pointer): the elements of x,
// as stored. weight(u, v): the weights of tap u across and v along. With a known kernel, each
// element is loaded once for all windows of the strip that contain it. Padding along the strip adds
// 0 times its weight, so that loads do not wait for branches.
template <int kKernel, int kStrip, int Count, class T, class Load, class Weight>
__device__ __forceinline__ void
add_windows(const T* from, const window::Line& along, int first, const window::Line& across,
            int window, const Load& load, const Weight& weight, Floats<Count> (&sum)[kStrip]) {
  const auto element = [&](int at, const T* line) __attribute__((always_inline)) {
    return element_at<Count>(line, along, at, load);
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
      slide(stored, weights, sum);
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

// The same for a known kernel of few lines: issues all loads before it uses an element.
template <int kKernel, int kStrip, int Count, class T, class Load, class Weight>
__device__ __forceinline__ void
add_windows_at_once(const T* from, const window::Line& along, int first, const window::Line& across,
                    int window, const Load& load, const Weight& weight,
                    Floats<Count> (&sum)[kStrip]) {
  constexpr int kElements = kStrip + kKernel - 1;
  const int begin = first - along.before;
  const int top = window - across.before;
  const bool surrounded = begin >= 0 && begin + kElements <= along.in;
  StoredPack<T, Count> stored[kKernel][kElements];
  KG_UNROLL
  for (int u = 0; u < kKernel; ++u) { // lines outside the input are clamped, and their loads unused
    const T* const line = from + min(max(top + u, 0), across.in - 1) * across.x_step;
    if (surrounded) {
      const T* next = line + begin * along.x_step;
      KG_UNROLL
      for (int c = 0; c < kElements; ++c, next += along.x_step) stored[u][c] = load(next);
    } else {
      KG_UNROLL
      for (int c = 0; c < kElements; ++c)
        stored[u][c] = element_at<Count>(line, along, begin + c, load);
    }
  }
  KG_UNROLL
  for (int u = 0; u < kKernel; ++u) loaded(stored[u]);
  KG_UNROLL
  for (int u = 0; u < kKernel; ++u) {
    if (top + u < 0 || top + u >= across.in) continue;
    Floats<Count> weights[kKernel];
    KG_UNROLL
    for (int v = 0; v < kKernel; ++v) weights[v] = weight(u, v);
    slide(stored[u], weights, sum);
  }
}

} // namespace kg::conv2d
