// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant depthwise, nhwc: a thread computes 16 bytes of channels at 4 neighbouring
// positions of y, and neighbouring threads take neighbouring channels. A block transposes its
// weights into shared memory with channels last, since the taps of a channel are contiguous.
//
// Bytes: x read once and y written once; each block reads the weights from L2. For a 3x3 kernel of
// stride 1, a position loads 4.5 vectors of x, all but the first from L1. L1 then moves 3.5 times
// the bytes of memory, at about 7 times its rate. Flops: 2 per tap, 1 to 12 per byte for
// kernels of 3x3 to 7x7. For 3x3, a thread issues all loads of a strip at once, 18 vectors. A warp
// issues 776 instructions for 4 positions of 8 channels (sm_90a), of 1,008 that an H200 issues
// while it copies the same bytes. Line by line, at 324 instructions per line plus divisions per
// strip, bf16 reached 54 % of copy bandwidth on an H200 (docs/measured, eb6b4ffa). depthwise_walk.h
// handles 3x3 in f16 and bf16. Still line by line, and not timed: 5x5, 7x7, other strides, several
// outputs per channel, and channels that are not whole vectors, whose x is loaded by elements.
//
// Why not a tile of x in shared memory: rows shared between blocks would still be loaded twice, and
// L1 keeps rows within a block. Why not one position per thread: twice the loads.
#include "ops/conv2d/depthwise_walk.h"
#include "ops/conv2d/strip.h"
#include "ops/conv2d/variants.h"
#include "primitives/divisor.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <type_traits>

namespace kg::conv2d {

inline constexpr int kNhwcStrip = 4; // positions per thread

// A convolution as thread blocks see it. Strips are numbered along rows, then rows and images.
struct NhwcStrips {
  window::Line vertical, horizontal;
  std::int64_t x_image; // elements
  int out_channels, multiplier;
  unsigned packs;           // vectors of channels per block
  unsigned channel_blocks;  // blocks along the channels
  unsigned rounds;          // strips that a block processes in turn
  NarrowDivisor row_strips; // per row
  NarrowDivisor rows;       // per image
  unsigned strips;          // in all images
};

// Elements between taps of the staged weights in shared memory: one vector more than the block's
// channels, so that stores to different taps have fewer bank conflicts.
template <int Count>
__host__ __device__ constexpr int pitch_of(unsigned packs) {
  return static_cast<int>(packs + 1) * Count;
}

// kMultiplied: elements of x are loaded one by one, from channel / multiplier.
template <class T, int Count, int kKernel, bool kMultiplied>
__global__ void __launch_bounds__(kDepthwiseThreads, 2)
    depthwise_nhwc(const T* __restrict__ x, const T* __restrict__ weights,
                   const T* __restrict__ bias, T* __restrict__ y, NhwcStrips d) {
  T* const staged = dynamic_shared<T>();
  const int pitch = pitch_of<Count>(d.packs);
  const int row_taps = kKernel > 0 ? kKernel : d.horizontal.kernel;
  const int taps = (kKernel > 0 ? kKernel : d.vertical.kernel) * row_taps;
  const int channels = static_cast<int>(d.packs) * Count;
  const int channel0 = static_cast<int>(blockIdx.x % d.channel_blocks) * channels;
  const int left = d.out_channels - channel0;
  const T* const filters = weights + static_cast<std::int64_t>(channel0) * taps;
  for (int k = static_cast<int>(threadIdx.x); k < (left < channels ? left : channels) * taps;
       k += kDepthwiseThreads)
    staged[k % taps * pitch + k / taps] = filters[k];
  __syncthreads();

  const int pack = static_cast<int>(threadIdx.x % d.packs) * Count; // its first channel
  const unsigned line = threadIdx.x / d.packs;
  const unsigned lines = kDepthwiseThreads / d.packs;
  if (pack >= left || line >= lines) return;
  const int channel = channel0 + pack;
  const T* const channel_weights = staged + pack;
  const auto weight = [&](int u, int v) __attribute__((always_inline)) {
    const int tap = u * row_taps + v;
    StoredPack<T, Count> stored;
    stored.load(channel_weights + tap * pitch);
    return unpack_pairs(stored);
  };
  int offset[Count]; // of the channels in x
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    offset[e] = kMultiplied ? (channel + e) / d.multiplier : channel + e;
  const auto load = [&](const T* place) __attribute__((always_inline)) {
    StoredPack<T, Count> stored;
    if constexpr (!kMultiplied) {
      stored.load(place + offset[0]);
    } else {
      Pack<T, Count> gathered;
      KG_UNROLL
      for (int e = 0; e < Count; ++e) gathered.element[e] = place[offset[e]];
      stored.set(gathered);
    }
    return stored;
  };
  Floats<Count> added{};
  if (bias != nullptr) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) added.value[e] = to_float(bias[channel + e]);
  }

  unsigned strip = blockIdx.x / d.channel_blocks * (d.rounds * lines) + line;
  for (unsigned round = 0; round < d.rounds && strip < d.strips; ++round, strip += lines) {
    const unsigned row = d.row_strips.quotient(strip); // over all images
    const auto first = static_cast<int>(strip - row * d.row_strips.value) * kNhwcStrip;
    const unsigned image = d.rows.quotient(row);
    Floats<Count> sum[kNhwcStrip] = {};
    const T* const from = x + image * d.x_image;
    const auto window = static_cast<int>(row - image * d.rows.value);
    if constexpr (kKernel == 3)
      add_windows_at_once<kKernel>(from, d.horizontal, first, d.vertical, window, load, weight,
                                   sum);
    else
      add_windows<kKernel>(from, d.horizontal, first, d.vertical, window, load, weight, sum);
    T* const to =
        y +
        ((row * static_cast<std::int64_t>(d.horizontal.out) + first) * d.out_channels + channel);
    KG_UNROLL
    for (int s = 0; s < kNhwcStrip; ++s) {
      if (first + s >= d.horizontal.out) break;
      Pack<T, Count> result;
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        result.element[e] = from_float<T>(sum[s].value[e] + added.value[e]);
      store_streaming(
          reinterpret_cast<Pack<T, Count>*>(to + s * static_cast<std::int64_t>(d.out_channels)),
          result);
    }
  }
}

namespace {

// A block's weights: at most kMostTaps taps of 16 vectors and the gap, 34 KiB.
constexpr std::int64_t kMostPacks = 16;
constexpr std::int64_t kMostSingles = 64; // vectors of one element
constexpr std::int64_t kMostRounds = 4;   // share one staging of the weights

template <class T, int Count, int kKernel, bool kMultiplied>
void launch_nhwc(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  const std::int64_t packs = g.out_channels / Count;
  const std::int64_t channel_blocks = div_up(packs, Count == 1 ? kMostSingles : kMostPacks);
  const std::int64_t block_packs = div_up(packs, channel_blocks);
  const std::int64_t lines = kDepthwiseThreads / block_packs;
  const std::int64_t row_strips = div_up(g.out_width(), kNhwcStrip);
  const unsigned strips =
      window::count_threads("conv2d: variant depthwise", g.batch * g.out_height() * row_strips);
  // Fewer rounds if there would be too few blocks for all multiprocessors.
  const std::int64_t enough = 2 * device_properties().sm_count;
  const std::int64_t rounds =
      std::clamp<std::int64_t>(div_up(strips, lines) * channel_blocks / enough, 1, kMostRounds);
  NhwcStrips d;
  d.vertical = vertical_line(g);
  d.horizontal = horizontal_line(g);
  d.x_image = strides_of_x(g).outer;
  d.out_channels = static_cast<int>(g.out_channels);
  d.multiplier = static_cast<int>(g.group_outputs());
  d.packs = static_cast<unsigned>(block_packs);
  d.channel_blocks = static_cast<unsigned>(channel_blocks);
  d.rounds = static_cast<unsigned>(rounds);
  d.row_strips = NarrowDivisor(row_strips);
  d.rows = NarrowDivisor(g.out_height());
  d.strips = strips;
  launch(depthwise_nhwc<T, Count, kKernel, kMultiplied>,
         {.grid = grid_x(div_up(strips, lines * rounds) * channel_blocks,
                         "conv2d: the strips of variant depthwise", "split the batch"),
          .block = kDepthwiseThreads,
          .shared_bytes = static_cast<std::size_t>(g.taps()) * pitch_of<Count>(d.packs) * sizeof(T),
          .stream = &stream},
         p.x, p.weights, p.bias, p.y, d);
}

// Rows of y per thread; fewer than the maximum if there would be too few threads.
constexpr std::int64_t kLeastWalkRows = 4, kMostWalkRows = 14;

template <class T>
void launch_walk(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  DepthwiseWalk d;
  d.vertical = vertical_line(g);
  d.horizontal = horizontal_line(g);
  const std::int64_t across = div_up(g.out_width(), kWalkColumns);
  const std::int64_t strips = g.batch * across * (g.out_channels / kWalkChannels);
  const std::int64_t enough =
      std::int64_t{kWalkThreads} * kWalkBlocksPerSm * device_properties().sm_count;
  const std::int64_t parts =
      std::clamp(div_up(enough, strips), div_up(g.out_height(), kMostWalkRows),
                 div_up(g.out_height(), kLeastWalkRows));
  d.part = static_cast<int>(div_up(g.out_height(), parts));
  d.channels = NarrowDivisor(g.out_channels / kWalkChannels);
  d.across = NarrowDivisor(across);
  d.parts = NarrowDivisor(div_up(g.out_height(), d.part));
  d.threads = window::count_threads("conv2d: variant depthwise", strips * d.parts.value);
  launch(depthwise_walk<T>,
         {.grid =
              grid_x(div_up(d.threads, kWalkThreads), "conv2d: the strips of y", "split the batch"),
          .block = kWalkThreads,
          .stream = &stream},
         p.x, p.weights, p.bias, p.y, d);
}

} // namespace

template <class T>
void run_depthwise_nhwc(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  constexpr int kCount = kPackElements<T>;
  if (g.out_channels % kCount != 0 || !is_aligned(p.y) ||
      (g.group_outputs() == 1 && !is_aligned(p.x)))
    return launch_nhwc<T, 1, 0, true>(p, stream);
  if (g.group_outputs() > 1) return launch_nhwc<T, kCount, 0, true>(p, stream);
  switch (known_kernel(g)) {
  case 3:
    if constexpr (!std::is_same_v<T, float>)
      if (is_aligned(p.weights)) return launch_walk(p, stream);
    return launch_nhwc<T, kCount, 3, false>(p, stream);
  case 5: return launch_nhwc<T, kCount, 5, false>(p, stream);
  case 7: return launch_nhwc<T, kCount, 7, false>(p, stream);
  default: return launch_nhwc<T, kCount, 0, false>(p, stream);
  }
}

template void run_depthwise_nhwc(const Problem<float>&, Stream&);
template void run_depthwise_nhwc(const Problem<f16>&, Stream&);
template void run_depthwise_nhwc(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d
