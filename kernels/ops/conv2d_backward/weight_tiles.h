// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared by the kernels of the weights' gradient: launch parameters, a block's tile of the product
// of dy and the windows of x, the iteration over its positions, and the sum of the parts.
#pragma once

#include "ops/conv2d_backward/filter.h"
#include "ops/conv2d_backward/variants.h"

#include "primitives/divisor.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kg::conv2d_backward {

// A convolution as thread blocks see it.
struct WeightTiles {
  window::Line vertical, horizontal;
  conv2d::Strides x, y;
  Filter filter;
  int group_outputs, out_channels;
  std::int64_t places;   // in all images
  Divisor image_places;  // per image
  NarrowDivisor columns; // of y
  std::int64_t output_tiles, filter_tiles, groups;
  std::int64_t parts, part_places;

  std::int64_t tiles() const { return output_tiles * filter_tiles * groups; }
};

// A block's tile in output channels and elements of a filter, the positions per step, and the
// number of resident blocks per multiprocessor.
struct TileOfWeights {
  int outputs, elements, depth, blocks;
};

// Requires images in `g`. Creates parts for two waves of blocks over all tiles, but with enough
// positions each that their sums stay cheap.
inline WeightTiles weight_tiles_of(const Geometry& g, const TileOfWeights& tile) {
  WeightTiles w;
  w.vertical = conv2d::vertical_line(g);
  w.horizontal = conv2d::horizontal_line(g);
  w.x = conv2d::strides_of_x(g);
  w.y = strides_of_y(g);
  w.filter = filter_of(g);
  w.group_outputs = static_cast<int>(g.group_outputs());
  w.out_channels = static_cast<int>(g.out_channels);
  w.places = g.batch * g.out_places();
  w.image_places = Divisor(g.out_places());
  w.columns = NarrowDivisor(g.out_width());
  w.output_tiles = div_up(g.group_outputs(), tile.outputs);
  w.filter_tiles = div_up(g.depth(), tile.elements);
  w.groups = g.groups;
  const std::int64_t enough = std::int64_t{2} * tile.blocks * device_properties().sm_count;
  const std::int64_t least_places = std::int64_t{16} * tile.depth;
  const std::int64_t most =
      std::clamp<std::int64_t>(enough / w.tiles(), 1, div_up(w.places, least_places));
  w.part_places = div_up(div_up(w.places, most), tile.depth) * tile.depth;
  w.parts = div_up(w.places, w.part_places);
  return w;
}

// A block's part of a tile.
struct TilePart {
  int group;
  int output0, outputs;   // first output channel over all groups; how many exist from there
  int element0, elements; // of the filters
  std::int64_t place0, places;
  std::int64_t sums; // index of its first sum among the sums of all parts
};

__device__ __forceinline__ TilePart tile_part(const WeightTiles& w, int outputs, int elements) {
  std::int64_t index = blockIdx.x;
  const auto element0 = static_cast<int>(index % w.filter_tiles) * elements;
  index /= w.filter_tiles;
  const auto first = static_cast<int>(index % w.output_tiles) * outputs; // in the group
  index /= w.output_tiles;
  const std::int64_t part = index % w.parts;
  const auto group = static_cast<int>(index / w.parts);
  const int output0 = group * w.group_outputs + first;
  const int filter = w.filter.elements();
  const std::int64_t place0 = part * w.part_places;
  const std::int64_t rest = w.places - place0;
  return {group,
          output0,
          w.group_outputs - first,
          element0,
          filter - element0,
          place0,
          rest < w.part_places ? rest : w.part_places,
          (part * w.out_channels + output0) * filter + element0};
}

// A position of y. The iteration goes along rows, then through images.
struct Walk {
  std::int64_t image;
  int row, column;
};

__device__ __forceinline__ Walk walk_from(std::int64_t place, const WeightTiles& w) {
  const std::int64_t line = place / w.horizontal.out;
  return {line / w.vertical.out, static_cast<int>(line % w.vertical.out),
          static_cast<int>(place % w.horizontal.out)};
}

__device__ __forceinline__ void advance(Walk& walk, int places, const WeightTiles& w) {
  walk.column += places;
  while (walk.column >= w.horizontal.out) {
    walk.column -= w.horizontal.out;
    if (++walk.row < w.vertical.out) continue;
    walk.row = 0;
    ++walk.image;
  }
}

// Elements from the start of dy to the position, or from the start of x to its window without
// padding.
__device__ __forceinline__ std::int64_t offset_in_dy(const Walk& walk, const WeightTiles& w) {
  return walk.image * w.y.outer + walk.row * w.y.row + walk.column * w.y.column;
}
__device__ __forceinline__ std::int64_t offset_in_x(const Walk& walk, const WeightTiles& w) {
  return walk.image * w.x.outer + walk.row * w.vertical.stride * w.x.row +
         walk.column * w.horizontal.stride * w.x.column;
}

// An element of a filter, relative to the start of a window.
struct alignas(16) Tap {
  std::int64_t offset; // elements of x
  int row, column;
};

// A tap outside of x for every window.
inline constexpr int kOutside = -static_cast<int>(window::kMostExtent) - 1;

// Element `index` of a filter.
__device__ __forceinline__ Tap tap_at(int index, const WeightTiles& w) {
  if (index >= w.filter.elements()) return {0, kOutside, 0};
  const Weight weight = weight_at(index, w.filter);
  const int row = weight.row * w.vertical.dilation - w.vertical.before;
  const int column = weight.column * w.horizontal.dilation - w.horizontal.before;
  return {weight.channel * w.x.channel + row * w.x.row + column * w.x.column, row, column};
}

// Whether the tap is inside x for the window at this position.
__device__ __forceinline__ bool is_inside(const Tap& tap, const Walk& walk, const WeightTiles& w) {
  const int row = walk.row * w.vertical.stride + tap.row;
  const int column = walk.column * w.horizontal.stride + tap.column;
  return row >= 0 && row < w.vertical.in && column >= 0 && column < w.horizontal.in;
}

inline constexpr int kJoinThreads = 256;

// Adds the parts of each weight.
template <class T>
__global__ void __launch_bounds__(kJoinThreads)
    join_parts(const float* __restrict__ sums, T* __restrict__ dw, std::int64_t parts,
               unsigned weights) {
  const unsigned index = blockIdx.x * kJoinThreads + threadIdx.x;
  if (index >= weights) return;
  float sum = 0;
  for (std::int64_t part = 0; part < parts; ++part)
    sum += sums[part * static_cast<std::int64_t>(weights) + index];
  dw[index] = from_float<T>(sum);
}

// Launches `kernel` with one block per part and tile, passing the arguments after the sums; then
// adds the parts.
template <class T, class Kernel, class... Arguments>
void run_parts(Kernel kernel, const Problem<T>& p, const WeightTiles& w, int threads,
               std::size_t shared_bytes, Stream& stream, Arguments... arguments) {
  auto* const sums = static_cast<float*>(p.workspace);
  launch(kernel,
         {.grid = grid_x(w.tiles() * w.parts, "conv2d_backward: the tiles of the weights",
                         "use variant direct"),
          .block = dim3(static_cast<unsigned>(threads)),
          .shared_bytes = shared_bytes,
          .stream = &stream},
         p.dy, p.x, sums, w, arguments...);
  const unsigned weights =
      window::count_threads("conv2d_backward: the weights", p.geometry.weights());
  launch(join_parts<T>,
         {.grid = grid_x(div_up(weights, kJoinThreads), "conv2d_backward: the weights",
                         "use variant direct"),
          .block = kJoinThreads,
          .stream = &stream},
         sums, p.gradient, w.parts, weights);
}

inline std::size_t sums_bytes(const WeightTiles& w) {
  const std::int64_t floats = w.parts * w.out_channels * w.filter.elements();
  return static_cast<std::size_t>(div_up(floats, 4) * 4) * sizeof(float);
}

} // namespace kg::conv2d_backward
