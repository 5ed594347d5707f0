// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward, variant implicit_gemm of the weights: for each group the product of dy, output
// channels by places of all images, and the windows of x, places by elements of a filter, by the
// tiles of gemm's variant tiled, in f32 for every type.
//
// A block has 64 output channels and 64 elements of a filter, in the order of memory, and a part of
// the places: a gradient of few weights is a sum over many places, and without parts most of the
// device would wait. 16 places at a time come through registers, and neighbouring threads gather
// what lies next to each other. These are channels in nhwc: a thread has one of dy and one element
// of a filter, at all 16 places. In nchw they are places: 8 threads share 2 sectors of 8 places of
// each of 8 channels and 8 elements of a filter. Either way a thread walks through rows and images
// without divisions. The parts' sums lie in the workspace, and a second launch adds them up in
// their order.
//
// Bytes: dy and x from memory once as long as L2 holds what the tiles of a row share; from there
// 16 * (64 + 64) elements per 64 * 64 * 16 multiply-adds; the parts, 4 bytes per weight each, are
// limited to kPartBlocks tiles per multiprocessor. Sectors of one request: those that 32 elements
// fill, in nchw one more for each of its 4 rows where padding or strides move x. Flops: 2 per
// product, padding of the tiles included. Expected on an H200: 30 % of the f32 peak for 64 channels
// and more, in nchw 25 %; of f16 and bf16 the same time, a twentieth of what their matrix units
// could do.
#include "conv2d_backward/filter.h"
#include "conv2d_backward/variants.h"
#include "gemm/simt_tile.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>

namespace kg::conv2d_backward {

using conv2d::Strides;

inline constexpr gemm::Tile kTile = gemm::kTile;
static_assert(kTile.m == kTile.n, "a thread gathers as much of dy as of x");
inline constexpr int kJoinThreads = 256;

// A convolution as blocks see it.
struct WeightTiles {
  window::Line vertical, horizontal;
  Strides x, y;
  Filter filter;
  int group_outputs, out_channels;
  std::int64_t places; // of all images
  std::int64_t output_tiles, filter_tiles;
  std::int64_t parts, part_places;

  std::int64_t tiles(std::int64_t groups) const { return output_tiles * filter_tiles * groups; }
};

// A place of y. The walk goes along rows, then images.
struct Walk {
  std::int64_t image;
  int row, column;
};

__device__ __forceinline__ void advance(Walk& walk, int places, const WeightTiles& w) {
  walk.column += places;
  while (walk.column >= w.horizontal.out) {
    walk.column -= w.horizontal.out;
    if (++walk.row < w.vertical.out) continue;
    walk.row = 0;
    ++walk.image;
  }
}

// An element of a filter, as far from a window's first element in x.
struct Tap {
  std::int64_t offset; // elements
  int row, column;
};

// What a thread gathers of each slice: kRows channels of dy and as many elements of a filter, at
// kPlaces places.
template <class T, bool kChannelsLast>
struct Share {
  static constexpr gemm::Slice kSlice{kTile.m, kTile.k, kTile.threads(), !kChannelsLast, false};
  static constexpr int kPlaces = kChannelsLast ? kTile.k : kTile.k / gemm::kSector;
  static constexpr int kPlaceStep = kTile.k / kPlaces;
  static constexpr int kRows = kSlice.per_thread() / kPlaces;
  static constexpr int kRowStep = kTile.m / kRows;

  const T* dy; // the first of its channels
  int outputs; // channels that exist, from that one on
  const T* x;  // the group's first channel
  Tap taps[kRows];

  // Reads its part of the next places, of which `left` exist. What does not exist is 0, which adds
  // nothing.
  __device__ __forceinline__ void gather(const WeightTiles& w, std::int64_t left, Walk& walk,
                                         float (&gradients)[kSlice.per_thread()],
                                         float (&values)[kSlice.per_thread()]) const {
    KG_UNROLL
    for (int place = 0; place < kPlaces; ++place) {
      const bool exists = place * kPlaceStep < left;
      const int row = walk.row * w.vertical.stride;
      const int column = walk.column * w.horizontal.stride;
      const T* const of_dy =
          dy + (walk.image * w.y.outer + walk.row * w.y.row + walk.column * w.y.column);
      const T* const of_x = x + (walk.image * w.x.outer + row * w.x.row + column * w.x.column);
      KG_UNROLL
      for (int i = 0; i < kRows; ++i) {
        const int in_row = row + taps[i].row;
        const int in_column = column + taps[i].column;
        const bool inside = exists && in_row >= 0 && in_row < w.vertical.in && in_column >= 0 &&
                            in_column < w.horizontal.in;
        const int item = i * kPlaces + place;
        gradients[item] =
            exists && i * kRowStep < outputs ? to_float(of_dy[i * kRowStep * w.y.channel]) : 0.0f;
        values[item] = inside ? to_float(of_x[taps[i].offset]) : 0.0f;
      }
      advance(walk, kPlaceStep, w);
    }
  }
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

// sums: parts x out_channels x elements of a filter.
template <class T, bool kChannelsLast>
__global__ void __launch_bounds__(kTile.threads(), 4)
    weight_tiles(const T* __restrict__ dy, const T* __restrict__ x, float* __restrict__ sums,
                 WeightTiles w) {
  using Part = Share<T, kChannelsLast>;
  constexpr gemm::Tile kT = kTile;
  constexpr gemm::Slice kSlice = Part::kSlice;
  constexpr int kBuffer = 2 * kSlice.floats();
  static_assert(kT.m * kSlice.pitch() <= 2 * kBuffer, "the tile takes the buffers' place");
  const auto thread = static_cast<int>(threadIdx.x);
  const int thread_row = thread / kT.threads_n() * kT.thread_m;
  const int thread_column = thread % kT.threads_n() * kT.thread_n;

  std::int64_t index = blockIdx.x;
  const auto element0 = static_cast<int>(index % w.filter_tiles) * kT.n;
  index /= w.filter_tiles;
  const auto first = static_cast<int>(index % w.output_tiles) * kT.m; // in the group
  index /= w.output_tiles;
  const std::int64_t part = index % w.parts;
  const auto group = static_cast<int>(index / w.parts);
  const int elements = w.filter.elements() - element0;
  const int outputs = w.group_outputs - first;
  const int output0 = group * w.group_outputs + first;

  const gemm::Place own = gemm::place<kSlice>(thread, 0);
  Part share{dy + (output0 + own.outer) * w.y.channel,
             outputs - own.outer,
             x + static_cast<std::int64_t>(group) * w.filter.channels * w.x.channel,
             {}};
  KG_UNROLL
  for (int i = 0; i < Part::kRows; ++i)
    share.taps[i] = tap_at(element0 + own.outer + i * Part::kRowStep, w);

  const std::int64_t place0 = part * w.part_places;
  const std::int64_t rest = w.places - place0;
  std::int64_t left = rest < w.part_places ? rest : w.part_places;
  const std::int64_t line = (place0 + own.k) / w.horizontal.out;
  Walk walk{line / w.vertical.out, static_cast<int>(line % w.vertical.out),
            static_cast<int>((place0 + own.k) % w.horizontal.out)};

  float* const shared = dynamic_shared<float>();
  float gradients[kSlice.per_thread()];
  float values[kSlice.per_thread()];
  float sum[kT.thread_m][kT.thread_n] = {};
  const auto fetch = [&]() __attribute__((always_inline)) {
    share.gather(w, left - own.k, walk, gradients, values);
    left -= kTile.k;
  };
  const auto store = [&](int slice) __attribute__((always_inline)) {
    float* const buffer = shared + slice % 2 * kBuffer;
    gemm::store<kSlice>(gradients, thread, buffer);
    gemm::store<kSlice>(values, thread, buffer + kSlice.floats());
  };

  fetch();
  store(0);
  for (int slice = 0;; ++slice) {
    __syncthreads();
    const bool more = left > 0;
    if (more) fetch();
    const float* const of_dy = shared + slice % 2 * kBuffer;
    gemm::multiply<kT, kSlice, kSlice>(of_dy + gemm::slot(thread_row),
                                       of_dy + kSlice.floats() + gemm::slot(thread_column), sum);
    if (!more) break;
    store(slice + 1);
  }
  __syncthreads();
  gemm::put<kT>(sum, thread_row, thread_column, shared);
  __syncthreads();
  if (thread >= elements) return;
  const std::int64_t filter = w.filter.elements();
  float* to = sums + ((part * w.out_channels + output0) * filter + element0 + thread);
  const float* const column = shared + gemm::slot(thread);
  for (int r = 0; r < outputs && r < kT.m; ++r) to[r * filter] = column[r * (kT.n + gemm::kQuad)];
}

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

namespace {

// Of one multiprocessor in all, twice those that run at a time.
constexpr std::int64_t kPartBlocks = 8;
// A part has at least so many places, so that its sums are not most of the work.
constexpr std::int64_t kLeastPlaces = 16 * kTile.k;

// `g` has images.
WeightTiles tiles_of(const Geometry& g) {
  WeightTiles w;
  w.vertical = conv2d::vertical_line(g);
  w.horizontal = conv2d::horizontal_line(g);
  w.x = conv2d::strides_of_x(g);
  w.y = strides_of_y(g);
  w.filter = filter_of(g);
  w.group_outputs = static_cast<int>(g.group_outputs());
  w.out_channels = static_cast<int>(g.out_channels);
  w.places = g.batch * g.out_places();
  w.output_tiles = div_up(g.group_outputs(), kTile.m);
  w.filter_tiles = div_up(g.depth(), kTile.n);
  const std::int64_t enough = kPartBlocks * device_properties().sm_count;
  const std::int64_t most =
      std::clamp<std::int64_t>(enough / w.tiles(g.groups), 1, div_up(w.places, kLeastPlaces));
  w.part_places = div_up(div_up(w.places, most), kTile.k) * kTile.k;
  w.parts = div_up(w.places, w.part_places);
  return w;
}

} // namespace

std::size_t weights_workspace_bytes(const Geometry& g) {
  const std::int64_t floats = tiles_of(g).parts * g.weights();
  return static_cast<std::size_t>(div_up(floats, gemm::kQuad) * gemm::kQuad) * sizeof(float);
}

template <class T>
void run_weights(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  const WeightTiles w = tiles_of(g);
  auto* const sums = static_cast<float*>(p.workspace);
  constexpr int kSharedFloats = 2 * kTile.k * 2 * (kTile.m + gemm::kQuad);
  const auto kernel = g.layout == Layout::nhwc ? weight_tiles<T, true> : weight_tiles<T, false>;
  launch(kernel,
         {.grid = grid_x(w.tiles(g.groups) * w.parts, "conv2d_backward: the tiles of the weights",
                         "use variant direct"),
          .block = dim3(static_cast<unsigned>(kTile.threads())),
          .shared_bytes = kSharedFloats * sizeof(float),
          .stream = &stream},
         p.dy, p.x, sums, w);
  const unsigned weights = window::count_threads("conv2d_backward: the weights", g.weights());
  launch(join_parts<T>,
         {.grid = grid_x(div_up(weights, kJoinThreads), "conv2d_backward: the weights",
                         "use variant direct"),
          .block = kJoinThreads,
          .stream = &stream},
         sums, p.gradient, w.parts, weights);
}

template void run_weights(const Problem<float>&, Stream&);
template void run_weights(const Problem<f16>&, Stream&);
template void run_weights(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d_backward
