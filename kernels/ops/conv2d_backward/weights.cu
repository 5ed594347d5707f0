// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d_backward, variant implicit_gemm of the weights, f32 (f16 and bf16: weights_mma.cu). For
// each group, multiplies dy (output channels x positions of all images) by the windows of x
// (positions x elements of a filter), with the tiles of gemm's variant tiled.
//
// A block computes 64 output channels and 64 elements of a filter, in memory order, over one part
// of the positions. A gradient of few weights sums over many positions; without parts most of the
// device would be idle. A step loads 16 positions through registers, and neighbouring threads
// gather contiguous elements. In nhwc these are channels: a thread loads one channel of dy and one
// element of a filter at all 16 positions. In nchw they are positions: 8 threads share 2 sectors of
// 8 positions for each of 8 channels and 8 elements of a filter. In both cases a thread advances
// through rows and images without divisions. The parts' sums are stored in the workspace, and a
// second launch adds them in order.
//
// Bytes: dy and x once from memory if L2 holds the data that a row of tiles shares; from L2, 16 *
// (64 + 64) elements per 64 * 64 * 16 multiply-adds. The parts, 4 bytes per weight each, are
// limited to 8 tiles per multiprocessor. A request covers the sectors of 32 elements, in nchw one
// more for each of its 4 rows if padding or strides shift x. Flops: 2 per product, including
// padding of the tiles. Expected on an H200 from 64 channels on: 30 % of the f32 peak, in nchw 25.
#include "ops/conv2d_backward/weight_tiles.h"
#include "ops/gemm/simt_tile.h"

namespace kg::conv2d_backward {

inline constexpr gemm::Tile kTile = gemm::kTile;
static_assert(kTile.m == kTile.n, "a thread gathers as much of dy as of x");

// A thread's part of each slice: kRows channels of dy and kRows elements of a filter at kPlaces
// positions.
template <bool kChannelsLast>
struct Share {
  static constexpr gemm::Slice kSlice{kTile.m, kTile.k, kTile.threads(), !kChannelsLast, false};
  static constexpr int kPlaces = kChannelsLast ? kTile.k : kTile.k / gemm::kSector;
  static constexpr int kPlaceStep = kTile.k / kPlaces;
  static constexpr int kRows = kSlice.per_thread() / kPlaces;
  static constexpr int kRowStep = kTile.m / kRows;

  const float* dy; // the thread's first channel
  int outputs;     // channels that exist from there
  const float* x;  // the group's first channel
  Tap taps[kRows];

  // Reads the thread's part of the next positions, of which `left` exist. Elements out of range
  // become 0.
  __device__ __forceinline__ void gather(const WeightTiles& w, std::int64_t left, Walk& walk,
                                         float (&gradients)[kSlice.per_thread()],
                                         float (&values)[kSlice.per_thread()]) const {
    KG_UNROLL
    for (int place = 0; place < kPlaces; ++place) {
      const bool exists = place * kPlaceStep < left;
      const float* const of_dy = dy + offset_in_dy(walk, w);
      const float* const of_x = x + offset_in_x(walk, w);
      KG_UNROLL
      for (int i = 0; i < kRows; ++i)
        gradients[i * kPlaces + place] =
            exists && i * kRowStep < outputs ? of_dy[i * kRowStep * w.y.channel] : 0.0f;
      KG_UNROLL
      for (int i = 0; i < kRows; ++i)
        values[i * kPlaces + place] =
            exists && is_inside(taps[i], walk, w) ? of_x[taps[i].offset] : 0.0f;
      advance(walk, kPlaceStep, w);
    }
  }
};

// sums: parts x out_channels x elements of a filter.
template <bool kChannelsLast>
__global__ void __launch_bounds__(kTile.threads(), 4)
    weight_tiles(const float* __restrict__ dy, const float* __restrict__ x,
                 float* __restrict__ sums, WeightTiles w) {
  using Gathered = Share<kChannelsLast>;
  constexpr gemm::Tile kT = kTile;
  constexpr gemm::Slice kSlice = Gathered::kSlice;
  constexpr int kBuffer = 2 * kSlice.floats();
  static_assert(kT.m * kSlice.pitch() <= 2 * kBuffer, "the tile takes the buffers' place");
  const auto thread = static_cast<int>(threadIdx.x);
  const int thread_row = thread / kT.threads_n() * kT.thread_m;
  const int thread_column = thread % kT.threads_n() * kT.thread_n;

  const TilePart part = tile_part(w, kT.m, kT.n);
  const gemm::Place own = gemm::place<kSlice>(thread, 0);
  Gathered share{dy + (part.output0 + own.outer) * w.y.channel,
                 part.outputs - own.outer,
                 x + static_cast<std::int64_t>(part.group) * w.filter.channels * w.x.channel,
                 {}};
  KG_UNROLL
  for (int i = 0; i < Gathered::kRows; ++i)
    share.taps[i] = tap_at(part.element0 + own.outer + i * Gathered::kRowStep, w);
  Walk walk = walk_from(part.place0 + own.k, w);
  std::int64_t left = part.places;

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
  if (thread >= part.elements) return;
  const std::int64_t filter = w.filter.elements();
  float* const to = sums + (part.sums + thread);
  const float* const column = shared + gemm::slot(thread);
  for (int row = 0; row < part.outputs && row < kT.m; ++row)
    to[row * filter] = column[row * (kT.n + gemm::kQuad)];
}

namespace {

constexpr TileOfWeights kTileOfWeights{
    .outputs = kTile.m, .elements = kTile.n, .depth = kTile.k, .blocks = 4};

} // namespace

std::size_t weights_workspace_bytes(const Geometry& g) {
  return sums_bytes(weight_tiles_of(g, kTileOfWeights));
}

void run_weights(const Problem<float>& p, Stream& stream) {
  constexpr std::size_t kSharedFloats = 2 * kTile.k * 2 * (kTile.m + gemm::kQuad);
  run_parts(p.geometry.layout == Layout::nhwc ? weight_tiles<true> : weight_tiles<false>, p,
            weight_tiles_of(p.geometry, kTileOfWeights), kTile.threads(),
            kSharedFloats * sizeof(float), stream);
}

} // namespace kg::conv2d_backward
