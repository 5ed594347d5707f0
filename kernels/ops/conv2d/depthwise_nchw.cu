// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant depthwise, nchw: a thread computes 8 vertically adjacent outputs, and
// neighbouring threads take neighbouring columns. A row of x is loaded once for all windows of the
// strip that contain it.
//
// Bytes: x read once and y written once; the weights come from L1. For a 3x3 kernel of stride 1, an
// output loads 3.75 elements (9 without the strip), all but one of them from L1. Elements have any
// alignment, and a column of padding shifts them, so a thread loads one at a time. On an H200, bf16
// reached 23 % of copy bandwidth for 3x3 of stride 1, at 506 instructions per thread. If rows are
// whole 16-byte vectors, depthwise_rows.h or, on Tensor Cores, depthwise_bands.h handles these
// kernels.
#include "ops/conv2d/depthwise_bands.h"
#include "ops/conv2d/depthwise_rows.h"
#include "ops/conv2d/strip.h"
#include "ops/conv2d/variants.h"

#include "runtime/device.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace kg::conv2d {

inline constexpr int kNchwStrip = 8; // outputs per thread

// Launch parameters. Threads are numbered along rows, then strips and planes of y.
struct NchwStrips {
  window::Line vertical, horizontal;
  std::int64_t x_plane; // elements
  unsigned in_channels, out_channels, multiplier;
  unsigned column_strips; // per column
};

template <class T, int kKernel>
__global__ void __launch_bounds__(kDepthwiseThreads)
    depthwise_nchw(const T* __restrict__ x, const T* __restrict__ weights,
                   const T* __restrict__ bias, T* __restrict__ y, NchwStrips d, unsigned threads) {
  const unsigned index = blockIdx.x * kDepthwiseThreads + threadIdx.x;
  if (index >= threads) return;
  const auto columns = static_cast<unsigned>(d.horizontal.out);
  const auto column = static_cast<int>(index % columns);
  const unsigned strip = index / columns;
  const auto first = static_cast<int>(strip % d.column_strips) * kNchwStrip;
  const unsigned plane = strip / d.column_strips;
  const unsigned channel = plane % d.out_channels;
  const std::int64_t x_plane =
      static_cast<std::int64_t>(plane / d.out_channels) * d.in_channels + channel / d.multiplier;

  const int taps = d.vertical.kernel * d.horizontal.kernel;
  const T* const filter = weights + channel * static_cast<std::int64_t>(taps);
  const auto weight = [&](int u, int v) __attribute__((always_inline)) {
    return Floats<1>{to_float(filter[v * d.horizontal.kernel + u])};
  };
  const auto load = [](const T* place) __attribute__((always_inline)) {
    StoredPack<T, 1> stored;
    stored.load(place);
    return stored;
  };
  Floats<1> sum[kNchwStrip] = {};
  add_windows<kKernel>(x + x_plane * d.x_plane, d.vertical, first, d.horizontal, column, load,
                       weight, sum);
  const float added = bias == nullptr ? 0.0f : to_float(bias[channel]);
  T* const to =
      y + ((plane * static_cast<std::int64_t>(d.vertical.out) + first) * columns + column);
  KG_UNROLL
  for (int s = 0; s < kNchwStrip; ++s) {
    if (first + s >= d.vertical.out) break;
    to[s * static_cast<std::int64_t>(columns)] = from_float<T>(sum[s].value[0] + added);
  }
}

namespace {

template <class T, int kKernel>
void launch_nchw(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  NchwStrips d;
  d.vertical = vertical_line(g);
  d.horizontal = horizontal_line(g);
  d.x_plane = strides_of_x(g).channel;
  d.in_channels = static_cast<unsigned>(g.in_channels);
  d.out_channels = static_cast<unsigned>(g.out_channels);
  d.multiplier = static_cast<unsigned>(g.group_outputs());
  d.column_strips = static_cast<unsigned>(div_up(g.out_height(), kNchwStrip));
  const unsigned threads = window::count_threads(
      "conv2d: variant depthwise", g.batch * g.out_channels * d.column_strips * g.out_width());
  launch(depthwise_nchw<T, kKernel>,
         {.grid = grid_x(div_up(threads, kDepthwiseThreads), "conv2d: the strips of y",
                         "split the batch"),
          .block = kDepthwiseThreads,
          .stream = &stream},
         p.x, p.weights, p.bias, p.y, d, threads);
}

template <class T>
std::int64_t rows_threads(const Geometry& g) {
  return g.batch * g.out_channels * div_up(g.out_height(), kRowsBelow) *
         (g.width / kPackElements<T>);
}

// For 3x3 kernels of stride 1, within the range of the divisors.
template <class T>
bool has_rows_of_packs(const Problem<T>& p) {
  const Geometry& g = p.geometry;
  return g.width % kPackElements<T> == 0 && g.out_width() == g.width &&
         g.horizontal.pad_before == 1 && g.group_outputs() == 1 && is_aligned(p.x) &&
         is_aligned(p.y) && rows_threads<T>(g) <= std::numeric_limits<std::int32_t>::max();
}

// Consecutive tiles in a column per warp; fewer if there would be too few warps.
constexpr std::int64_t kBandsTiles = 4;
constexpr std::int64_t kBandsWarpsPerSm = kBandsThreads / kLanes * kBandsBlocksPerSm;

// Whether Tensor Cores multiply rows of vectors: most tiles are full, and 32-bit counters suffice.
template <class T>
bool has_bands(const Geometry& g) {
  if (!supports<T>(Variant::implicit_gemm)) return false;
  const std::int64_t packs = g.width / kPackElements<T>;
  const std::int64_t columns = div_up(packs, kBandsPacks),
                     tiles = div_up(g.out_height(), kBandsOut);
  return 2 * packs * g.out_height() >= columns * tiles * kBandsPacks * kBandsOut &&
         g.width <= (1 << 24) &&
         g.batch * g.out_channels * columns * tiles <= (std::numeric_limits<int>::max() >> 5);
}

template <class T>
void launch_bands(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  DepthwiseBands d;
  d.vertical = vertical_line(g);
  d.horizontal = horizontal_line(g);
  d.packs = static_cast<int>(g.width / kPackElements<T>);
  const std::int64_t across = div_up(d.packs, kBandsPacks);
  const std::int64_t columns = g.batch * g.out_channels * across;
  const std::int64_t tiles = div_up(g.out_height(), kBandsOut);
  const std::int64_t enough = kBandsWarpsPerSm * device_properties().sm_count;
  const std::int64_t parts = std::clamp(div_up(enough, columns), div_up(tiles, kBandsTiles), tiles);
  d.tiles = static_cast<int>(div_up(tiles, parts));
  d.parts = NarrowDivisor(div_up(tiles, d.tiles));
  d.across = NarrowDivisor(across);
  d.channels = NarrowDivisor(g.out_channels);
  d.warps = static_cast<unsigned>(columns * d.parts.value);
  launch(across == 1 ? depthwise_bands<T, false> : depthwise_bands<T, true>,
         {.grid = grid_x(div_up(d.warps * std::int64_t{kLanes}, kBandsThreads),
                         "conv2d: the tiles of y", "split the batch"),
          .block = kBandsThreads,
          .stream = &stream},
         p.x, p.weights, p.bias, p.y, d);
}

template <class T>
void launch_rows(const Problem<T>& p, Stream& stream) {
  const Geometry& g = p.geometry;
  DepthwiseRows d;
  d.vertical = vertical_line(g);
  d.width = g.width;
  d.packs = NarrowDivisor(g.width / kPackElements<T>);
  d.strips = NarrowDivisor(div_up(g.out_height(), kRowsBelow));
  d.channels = NarrowDivisor(g.out_channels);
  d.threads = static_cast<unsigned>(rows_threads<T>(g));
  launch(depthwise_rows<T>,
         {.grid =
              grid_x(div_up(d.threads, kRowsThreads), "conv2d: the strips of y", "split the batch"),
          .block = kRowsThreads,
          .stream = &stream},
         p.x, p.weights, p.bias, p.y, d);
}

} // namespace

template <class T>
void run_depthwise_nchw(const Problem<T>& p, Stream& stream) {
  if (known_kernel(p.geometry) == kRowsKernel && has_rows_of_packs(p)) {
    if constexpr (!std::is_same_v<T, float>)
      if (has_bands<T>(p.geometry)) return launch_bands(p, stream);
    return launch_rows(p, stream);
  }
  switch (known_kernel(p.geometry)) {
  case 3: return launch_nchw<T, 3>(p, stream);
  case 5: return launch_nchw<T, 5>(p, stream);
  case 7: return launch_nchw<T, 7>(p, stream);
  default: return launch_nchw<T, 0>(p, stream);
  }
}

template void run_depthwise_nchw(const Problem<float>&, Stream&);
template void run_depthwise_nchw(const Problem<f16>&, Stream&);
template void run_depthwise_nchw(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d
