// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward, variant implicit_gemm of the weights: for each group the product of dy, output
// channels by places of all images, and the windows of x, places by elements of a filter, by the
// tiles of gemm's variant tiled, in f32 for every type.
//
// A block has 64 output channels and 64 elements of a filter, in the order of memory, and a part of
// the places: a gradient of few weights is a sum over many places, and without parts most of the
// device would wait. Each thread gathers one channel of dy and one element of a filter, 16 places
// at a time. Which places they are is the same for the whole block, so that one walk through rows
// and images, without divisions, serves all threads. The parts' sums lie in the workspace, and a
// second launch adds them up in their order.
//
// Bytes: dy and x from memory once as long as L2 holds what the tiles of a row share; from there
// 16 * (64 + 64) elements per 64 * 64 * 16 multiply-adds; the parts, 4 bytes per weight each, are
// limited to kPartBlocks tiles per multiprocessor. Neighbouring threads read neighbouring channels
// in nhwc; in nchw the same place of different planes, whose sectors L1 keeps for the places that
// follow. Flops: 2 per product, padding of the tiles included. Expected on an H200: 30 % of the f32
// peak in nhwc for 64 channels and more, 15 % in nchw; of f16 and bf16 the same time, a twentieth
// of what their matrix units could do.
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
static_assert(kTile.m == kTile.threads() && kTile.n == kTile.threads(),
              "a thread gathers one row and one column");
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

__device__ __forceinline__ void advance(Walk& walk, const WeightTiles& w) {
  if (++walk.column < w.horizontal.out) return;
  walk.column = 0;
  if (++walk.row < w.vertical.out) return;
  walk.row = 0;
  ++walk.image;
}

// Reads the next kTile.k places, of which `left` exist: of a channel of dy that begins at `dy`, and
// of an element of the filters, which lies at `top` and `left_edge` of the window, of a channel of
// x that begins at `x`. What does not exist is 0, which adds nothing.
template <class T>
__device__ __forceinline__ void gather(const WeightTiles& w, const T* dy, const T* x, int top,
                                       int left_edge, std::int64_t left, Walk& walk,
                                       float (&gradients)[kTile.k], float (&values)[kTile.k]) {
  KG_UNROLL
  for (int item = 0; item < kTile.k; ++item) {
    const bool exists = item < left;
    const int row = top + walk.row * w.vertical.stride;
    const int column = left_edge + walk.column * w.horizontal.stride;
    const bool inside =
        exists && row >= 0 && row < w.vertical.in && column >= 0 && column < w.horizontal.in;
    const std::int64_t of_y =
        walk.image * w.y.outer + walk.row * w.y.row + walk.column * w.y.column;
    const std::int64_t of_x = walk.image * w.x.outer + row * w.x.row + column * w.x.column;
    gradients[item] = exists ? to_float(dy[of_y]) : 0.0f;
    values[item] = inside ? to_float(x[of_x]) : 0.0f;
    advance(walk, w);
  }
}

// sums: parts x out_channels x elements of a filter.
template <class T>
__global__ void __launch_bounds__(kTile.threads(), 4)
    weight_tiles(const T* __restrict__ dy, const T* __restrict__ x, float* __restrict__ sums,
                 WeightTiles w) {
  constexpr gemm::Tile kT = kTile;
  constexpr gemm::Slice kSlice{kT.m, kT.k, kT.threads(), false, false};
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

  // A thread without a row or a column gathers the last one's again.
  const int row = thread < outputs ? thread : outputs - 1;
  const Weight weight = weight_at(element0 + (thread < elements ? thread : elements - 1), w.filter);
  const T* const channel_of_dy = dy + (output0 + row) * w.y.channel;
  const T* const channel_of_x =
      x + (static_cast<std::int64_t>(group) * w.filter.channels + weight.channel) * w.x.channel;
  const int top = weight.row * w.vertical.dilation - w.vertical.before;
  const int left_edge = weight.column * w.horizontal.dilation - w.horizontal.before;

  const std::int64_t place0 = part * w.part_places;
  const std::int64_t rest = w.places - place0;
  std::int64_t left = rest < w.part_places ? rest : w.part_places;
  const std::int64_t line = place0 / w.horizontal.out;
  Walk walk{line / w.vertical.out, static_cast<int>(line % w.vertical.out),
            static_cast<int>(place0 % w.horizontal.out)};

  float* const shared = dynamic_shared<float>();
  float gradients[kT.k];
  float values[kT.k];
  float sum[kT.thread_m][kT.thread_n] = {};
  const auto fetch = [&]() __attribute__((always_inline)) {
    gather(w, channel_of_dy, channel_of_x, top, left_edge, left, walk, gradients, values);
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
  launch(weight_tiles<T>,
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
