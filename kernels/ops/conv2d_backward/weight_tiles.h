// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of the weights' gradient share: how they see a convolution, which tile of the
// product of dy and the windows of x a block has, the walk along its places, and the sum of the
// parts.
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

// A convolution as blocks see it.
struct WeightTiles {
  window::Line vertical, horizontal;
  conv2d::Strides x, y;
  Filter filter;
  int group_outputs, out_channels;
  std::int64_t places;   // of all images
  Divisor image_places;  // of one of them
  NarrowDivisor columns; // of y
  std::int64_t output_tiles, filter_tiles, groups;
  std::int64_t parts, part_places;

  std::int64_t tiles() const { return output_tiles * filter_tiles * groups; }
};

// Extent of a block's tile, in output channels and in elements of a filter, and the places that it
// multiplies at a time; blocks that run on a multiprocessor at a time.
struct TileOfWeights {
  int outputs, elements, depth, blocks;
};

// `g` has images. Parts of all tiles are twice as many as run at a time, and each has at least so
// many places that its sums are not most of the work.
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

// The part of a tile that a block has.
struct TilePart {
  int group;
  int output0, outputs;   // the first output channel, of all groups, and how many exist from it on
  int element0, elements; // of the filters
  std::int64_t place0, places;
  std::int64_t sums; // where the first of its sums lies among those of all parts
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

// A place of y. The walk goes along rows, then images.
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

// Elements from the beginning of dy, or of x, to the place, or to the beginning of its window
// without padding.
__device__ __forceinline__ std::int64_t offset_in_dy(const Walk& walk, const WeightTiles& w) {
  return walk.image * w.y.outer + walk.row * w.y.row + walk.column * w.y.column;
}
__device__ __forceinline__ std::int64_t offset_in_x(const Walk& walk, const WeightTiles& w) {
  return walk.image * w.x.outer + walk.row * w.vertical.stride * w.x.row +
         walk.column * w.horizontal.stride * w.x.column;
}

// An element of a filter, as far from such a beginning of a window.
struct alignas(16) Tap {
  std::int64_t offset; // elements of x
  int row, column;
};

// A tap that no window has inside x.
inline constexpr int kOutside = -static_cast<int>(window::kMostExtent) - 1;

// Element `index` of a filter.
__device__ __forceinline__ Tap tap_at(int index, const WeightTiles& w) {
  if (index >= w.filter.elements()) return {0, kOutside, 0};
  const Weight weight = weight_at(index, w.filter);
  const int row = weight.row * w.vertical.dilation - w.vertical.before;
  const int column = weight.column * w.horizontal.dilation - w.horizontal.before;
  return {weight.channel * w.x.channel + row * w.x.row + column * w.x.column, row, column};
}

// Whether the tap lies inside x in the window of the place.
__device__ __forceinline__ bool is_inside(const Tap& tap, const Walk& walk, const WeightTiles& w) {
  const int row = walk.row * w.vertical.stride + tap.row;
  const int column = walk.column * w.horizontal.stride + tap.column;
  return row >= 0 && row < w.vertical.in && column >= 0 && column < w.horizontal.in;
}

inline constexpr int kJoinThreads = 256;

// Adds the parts of each weight up.
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

// Launches `kernel` with a block for each part of each tile and the arguments behind the sums, and
// adds its sums up.
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
