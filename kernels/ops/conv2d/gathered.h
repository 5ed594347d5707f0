// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the kernels of variant implicit_gemm: launch parameters, the iteration along k, and the
// output of a tile of y.
#pragma once

#include "ops/conv2d/variants.h"
#include "primitives/divisor.h"
#include "primitives/row.h"
#include "runtime/preconditions.h"

namespace kg::conv2d {

// A convolution as thread blocks see it.
struct Gathered {
  window::Line vertical, horizontal;
  Strides x;
  int group_inputs, group_outputs, out_channels;
  std::int64_t depth;
  std::int64_t outputs;  // positions of all images
  Divisor places;        // positions per image of y
  NarrowDivisor columns; // of y
  NarrowDivisor channels_of_group, kernel_rows, kernel_columns;
  NarrowDivisor channel_tiles, place_tiles;
  std::int64_t tiles;
};

// channels, places: extents of a block's tile.
inline Gathered gathered(const Geometry& geometry, std::int64_t channels, std::int64_t places) {
  Gathered g;
  g.vertical = vertical_line(geometry);
  g.horizontal = horizontal_line(geometry);
  g.x = strides_of_x(geometry);
  g.group_inputs = static_cast<int>(geometry.group_inputs());
  g.group_outputs = static_cast<int>(geometry.group_outputs());
  g.out_channels = static_cast<int>(geometry.out_channels);
  g.depth = geometry.depth();
  g.outputs = geometry.batch * geometry.out_places();
  g.places = Divisor(geometry.out_places());
  g.columns = NarrowDivisor(geometry.out_width());
  g.channels_of_group = NarrowDivisor(geometry.group_inputs());
  g.kernel_rows = NarrowDivisor(geometry.vertical.kernel);
  g.kernel_columns = NarrowDivisor(geometry.horizontal.kernel);
  const std::int64_t channel_tiles = div_up(geometry.group_outputs(), channels);
  const std::int64_t place_tiles = div_up(g.outputs, places);
  g.tiles = channel_tiles * place_tiles * geometry.groups; // at least each of the factors
  g.channel_tiles = NarrowDivisor(channel_tiles);
  g.place_tiles = NarrowDivisor(place_tiles);
  return g;
}

// A block's tile of y.
struct OutputTile {
  int group;
  int channel0, channels; // first channel over all groups; number of channels that exist
  std::int64_t place0;    // over all images
  int places;             // number that exist
};

__device__ __forceinline__ OutputTile output_tile(const Gathered& g, int channels, int places) {
  std::uint32_t rest = blockIdx.x;
  const int first = static_cast<int>(g.channel_tiles.take_last(rest)) * channels; // in the group
  const std::int64_t place0 = std::int64_t{g.place_tiles.take_last(rest)} * places;
  const auto group = static_cast<int>(rest);
  const int left = g.group_outputs - first;
  const std::int64_t rest_places = g.outputs - place0;
  return {group, group * g.group_outputs + first, left < channels ? left : channels, place0,
          static_cast<int>(rest_places < places ? rest_places : places)};
}

// Image and coordinates of the start of a position's window; positions count through all images.
struct WindowPlace {
  std::int64_t image;
  int row, column;
};

__device__ __forceinline__ WindowPlace window_place(const Gathered& g, std::int64_t place) {
  const std::int64_t image = g.places.quotient(place);
  auto row = static_cast<std::uint32_t>(place - image * g.places.value);
  const auto column = static_cast<int>(g.columns.take_last(row));
  return {image, static_cast<int>(row) * g.vertical.stride - g.vertical.before,
          column * g.horizontal.stride - g.horizontal.before};
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

// Writes `rows` rows of a tile, starting at its row `first`. Rows are channels in nchw and
// positions in nhwc, so that neighbouring threads write neighbouring vectors of y. A thread writes
// one column of vectors, in every kStep-th row. sums(row, column): the sums of a vector, `row`
// counted from `first`.
template <bool kChannelsLast, int kColumns, int kThreads, int kCount, class T, class Sums>
__device__ __forceinline__ void write(const Gathered& g, const OutputTile& tile, const T* bias,
                                      T* y, int first, int rows, const Sums& sums) {
  constexpr int kPacks = kColumns / kCount;
  constexpr int kStep = kThreads / kPacks; // rows written at a time
  static_assert(kThreads % kPacks == 0, "a thread has a column");
  const int column = static_cast<int>(threadIdx.x) % kPacks * kCount;
  const int first_row = static_cast<int>(threadIdx.x) / kPacks;
  if (column >= (kChannelsLast ? tile.channels : tile.places)) return;
  Floats<kCount> added{};
  std::int64_t row_step, start;
  if constexpr (kChannelsLast) {
    row_step = g.out_channels;
    start = (tile.place0 + first + first_row) * row_step + tile.channel0 + column;
    if (bias != nullptr) {
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) added.value[e] = to_float(bias[tile.channel0 + column + e]);
    }
  } else {
    row_step = g.places.value;
    const std::int64_t place = tile.place0 + column;
    const std::int64_t image = g.places.quotient(place);
    start = (image * g.out_channels + tile.channel0 + first + first_row) * row_step +
            (place - image * row_step);
  }
  T* to = y + start;
  KG_ROLLED
  for (int row = first_row; row < rows; row += kStep) {
    Floats<kCount> value = sums(row, column);
    if constexpr (!kChannelsLast) {
      const float of_row = bias == nullptr ? 0.0f : to_float(bias[tile.channel0 + first + row]);
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) added.value[e] = of_row;
    }
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) value.value[e] += added.value[e];
    store_pack<T, kCount, Store::wide>(to, 0, kCount, value);
    to += kStep * row_step;
  }
}

} // namespace kg::conv2d
