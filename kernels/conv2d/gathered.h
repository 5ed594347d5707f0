// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of variant implicit_gemm share: how they see a convolution, the walk along k,
// and how they write a tile of y.
#pragma once

#include "conv2d/variants.h"
#include "runtime/preconditions.h"

namespace kg::conv2d {

// A convolution as blocks see it.
struct Gathered {
  window::Line vertical, horizontal;
  Strides x;
  int group_inputs, group_outputs, out_channels;
  std::int64_t depth;
  std::int64_t places;  // of an image of y
  std::int64_t outputs; // places of all images
  std::int64_t channel_tiles, place_tiles;
  std::int64_t groups;

  std::int64_t tiles() const { return channel_tiles * place_tiles * groups; }
};

// `tile`: extent of a block's tile, in channels and in places.
inline Gathered gathered(const Geometry& geometry, std::int64_t tile) {
  Gathered g;
  g.vertical = vertical_line(geometry);
  g.horizontal = horizontal_line(geometry);
  g.x = strides_of_x(geometry);
  g.group_inputs = static_cast<int>(geometry.group_inputs());
  g.group_outputs = static_cast<int>(geometry.group_outputs());
  g.out_channels = static_cast<int>(geometry.out_channels);
  g.depth = geometry.depth();
  g.places = geometry.out_places();
  g.outputs = geometry.batch * g.places;
  g.channel_tiles = div_up(g.group_outputs, tile);
  g.place_tiles = div_up(g.outputs, tile);
  g.groups = geometry.groups;
  return g;
}

// A step of k: one element of a window.
struct Step {
  int channel, row, column;
};

template <bool kChannelsLast, int kWidth>
__device__ __forceinline__ void advance(Step& step, const Gathered& g) {
  if constexpr (kChannelsLast) {
    step.channel += kWidth;
    if (step.channel < g.group_inputs) return;
    step.channel = 0;
    if (++step.column < g.horizontal.kernel) return;
    step.column = 0;
    ++step.row;
  } else {
    if (++step.column < g.horizontal.kernel) return;
    step.column = 0;
    if (++step.row < g.vertical.kernel) return;
    step.row = 0;
    ++step.channel;
  }
}

// Writes rows of a tile, which are channels in nchw and places in nhwc, so that neighbouring
// threads write neighbouring elements of y. A thread has a column, whose sums are `pitch` floats
// apart.
template <bool kChannelsLast, class T>
__device__ __forceinline__ void write(const Gathered& g, const T* bias, T* y, int channel0,
                                      int channels, std::int64_t place0, int places,
                                      const float* column, int pitch) {
  const auto thread = static_cast<int>(threadIdx.x);
  if constexpr (kChannelsLast) {
    if (thread >= channels) return;
    const float added = bias == nullptr ? 0.0f : to_float(bias[channel0 + thread]);
    T* to = y + (place0 * g.out_channels + channel0 + thread);
    for (int row = 0; row < places; ++row)
      to[row * static_cast<std::int64_t>(g.out_channels)] =
          from_float<T>(column[row * pitch] + added);
  } else {
    if (thread >= places) return;
    const std::int64_t image = (place0 + thread) / g.places;
    const std::int64_t place = (place0 + thread) % g.places;
    T* to = y + ((image * g.out_channels + channel0) * g.places + place);
    for (int row = 0; row < channels; ++row) {
      const float added = bias == nullptr ? 0.0f : to_float(bias[channel0 + row]);
      to[row * g.places] = from_float<T>(column[row * pitch] + added);
    }
  }
}

} // namespace kg::conv2d
