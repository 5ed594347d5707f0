// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant implicit_gemm, f32: multiplies weights and columns with the tiles of gemm's
// variant tiled, without storing the matrix of columns. A block computes 64 output channels of a
// group at 64 positions of y, counted through all images.
//
// Weights are copied to shared memory like an operand of gemm. The other operand is gathered from
// x: each thread handles one position and fetches the 16 elements of its window that belong to a
// slice of k. These taps are the same for the whole block, so one iterator, without divisions,
// serves all threads. Each thread adds the offset of its position and checks that the tap is inside
// the image. In nchw, neighbouring threads read neighbouring columns. In nhwc, a thread reads 16
// bytes of channels if they are whole vectors, and its neighbours read the next positions. Rows of
// the tile are contiguous in y: positions in nchw, channels in nhwc.
//
// Bytes: x and weights once from memory if L2 holds the data that a row of tiles shares; from L2,
// 64 * (64 + 64) elements per 64 * 64 * 64 multiply-adds. Flops: 2 per product, including padding
// of the tiles. Expected on an H200: 45 to 55 % of the f32 peak from 64 channels on, slightly below
// gemm, whose copies compute no address per element.
#include "ops/conv2d/gathered.h"
#include "ops/conv2d/variants.h"
#include "ops/gemm/simt_tile.h"

#include "primitives/pack.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

namespace kg::conv2d {

inline constexpr int kTileOutputs = gemm::kTile.m; // channels, and positions
static_assert(gemm::kTile.n == kTileOutputs && gemm::kTile.threads() == kTileOutputs,
              "a thread gathers one place");

// Where the window of a position begins, in x and in the image.
struct Start {
  const float* image; // at the group's first channel
  int row, column;
};

// The next kTile.k elements of a window; 0 in the padding and past the end of k.
template <bool kChannelsLast, int kWidth>
__device__ __forceinline__ void gather(const Gathered& g, const Start& start, Step& step,
                                       float (&staged)[gemm::kTile.k]) {
  KG_UNROLL
  for (int item = 0; item < gemm::kTile.k; item += kWidth) {
    const int row = start.row + step.row * g.vertical.dilation;
    const int column = start.column + step.column * g.horizontal.dilation;
    const bool exists = step.channel < g.group_inputs && step.row < g.vertical.kernel;
    const bool inside = row >= 0 && row < g.vertical.in && column >= 0 && column < g.horizontal.in;
    const std::int64_t offset =
        step.channel * g.x.channel + row * g.vertical.x_step + column * g.horizontal.x_step;
    if constexpr (kWidth == gemm::kQuad) {
      float4 quad{};
      if (exists && inside) quad = *reinterpret_cast<const float4*>(start.image + offset);
      staged[item + 0] = quad.x;
      staged[item + 1] = quad.y;
      staged[item + 2] = quad.z;
      staged[item + 3] = quad.w;
    } else {
      staged[item] = exists && inside ? start.image[offset] : 0.0f;
    }
    advance<kChannelsLast, kWidth>(step, g);
  }
}

// Minimum resident blocks per multiprocessor, which limits registers: 6 keep 12 warps without
// spills if a thread gathers 16 bytes at a time; with one address per element they would spill.
template <bool kChannelsLast, bool kVector>
constexpr int least_blocks() {
  return kChannelsLast && kVector ? 6 : 4;
}

// kVector: only aligned 16-byte accesses to the weights and, in nhwc, to x.
template <bool kChannelsLast, bool kVector>
__global__ void __launch_bounds__(gemm::kTile.threads(), (least_blocks<kChannelsLast, kVector>()))
    implicit_gemm(const float* __restrict__ x, const float* __restrict__ weights,
                  const float* __restrict__ bias, float* __restrict__ y, Gathered g) {
  constexpr gemm::Tile kT = gemm::kTile;
  constexpr gemm::Slice kWeights{kT.m, kT.k, kT.threads(), true, kVector};
  constexpr gemm::Slice kPlaces{kT.n, kT.k, kT.threads(), false, false};
  constexpr int kWidth = kChannelsLast && kVector ? gemm::kQuad : 1;
  constexpr int kBuffer = kWeights.floats() + kPlaces.floats();
  static_assert(kT.m * kPlaces.pitch() <= 2 * kBuffer, "the tile of y takes the buffers' place");
  const auto thread = static_cast<int>(threadIdx.x);
  const int thread_row = thread / kT.threads_n() * kT.thread_m;
  const int thread_column = thread % kT.threads_n() * kT.thread_n;

  const OutputTile tile = output_tile(g, kTileOutputs, kTileOutputs);
  const float* const filters = weights + tile.channel0 * g.depth;
  // A thread without a position repeats the last position's window.
  const WindowPlace place =
      window_place(g, tile.place0 + (thread < tile.places ? thread : tile.places - 1));
  const Start start{x + (place.image * g.x.outer + tile.group * g.group_inputs * g.x.channel),
                    place.row, place.column};
  Step step{};

  float* const shared = dynamic_shared<float>();
  float staged_weights[kWeights.per_thread()];
  float staged_places[kT.k];
  float sum[kT.thread_m][kT.thread_n] = {};
  const auto slices = static_cast<int>((g.depth + kT.k - 1) / kT.k);
  const auto last_depth = static_cast<int>(g.depth - (slices - 1) * std::int64_t{kT.k});
  const auto fetch_slice = [&](int slice) __attribute__((always_inline)) {
    const gemm::Operand from{filters + slice * std::int64_t{kT.k}, g.depth, tile.channels};
    gemm::fetch<kWeights>(from, slice + 1 == slices ? last_depth : kT.k, thread, staged_weights);
    gather<kChannelsLast, kWidth>(g, start, step, staged_places);
  };
  const auto store_slice = [&](int slice) __attribute__((always_inline)) {
    float* const buffer = shared + slice % 2 * kBuffer;
    gemm::store<kWeights>(staged_weights, thread, buffer);
    gemm::store<kPlaces>(staged_places, thread, buffer + kWeights.floats());
  };

  fetch_slice(0);
  store_slice(0);
  for (int slice = 0; slice < slices; ++slice) {
    __syncthreads();
    const bool more = slice + 1 < slices;
    if (more) fetch_slice(slice + 1);
    const float* of_weights = shared + slice % 2 * kBuffer;
    const float* of_places = of_weights + kWeights.floats();
    gemm::multiply<kT, kWeights, kPlaces>(
        (kChannelsLast ? of_places : of_weights) + gemm::slot(thread_row),
        (kChannelsLast ? of_weights : of_places) + gemm::slot(thread_column), sum);
    if (more) store_slice(slice + 1);
  }
  __syncthreads();
  gemm::put<kT>(sum, thread_row, thread_column, shared);
  __syncthreads();
  constexpr int kPitch = kT.n + gemm::kQuad;
  const int rows = kChannelsLast ? tile.places : tile.channels;
  write<kChannelsLast, kT.n, kT.threads(), 1>(
      g, tile, bias, y, 0, rows, [&](int row, int column) __attribute__((always_inline)) {
        return Floats<1>{{shared[row * kPitch + gemm::slot(column)]}};
      });
}

namespace {

template <bool kChannelsLast, bool kVector>
void launch_implicit(const Problem<float>& p, const Gathered& g, Stream& stream) {
  constexpr int kSharedFloats = 2 * gemm::kTile.k * 2 * (kTileOutputs + gemm::kQuad);
  launch(implicit_gemm<kChannelsLast, kVector>,
         {.grid = grid_x(g.tiles, "conv2d: the tiles of y", "split the batch"),
          .block = dim3(static_cast<unsigned>(gemm::kTile.threads())),
          .shared_bytes = kSharedFloats * sizeof(float),
          .stream = &stream},
         p.x, p.weights, p.bias, p.y, g);
}

} // namespace

void run_implicit_gemm(const Problem<float>& p, Stream& stream) {
  const Gathered g = gathered(p.geometry, kTileOutputs, kTileOutputs);
  const bool weights = g.depth % gemm::kQuad == 0 && is_aligned(p.weights);
  const bool x = g.group_inputs % gemm::kQuad == 0 && is_aligned(p.x);
  if (p.geometry.layout == Layout::nchw)
    weights ? launch_implicit<false, true>(p, g, stream)
            : launch_implicit<false, false>(p, g, stream);
  else if (weights && x)
    launch_implicit<true, true>(p, g, stream);
  else
    launch_implicit<true, false>(p, g, stream);
}

} // namespace kg::conv2d
