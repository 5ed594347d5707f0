// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The second step of gather.h for common square windows, with kernel and stride known at compile
// time. A thread has a tile of dx. The tile's position determines its windows and which tap of each
// meets which element: nothing is searched for. The thread loads the windows of some rows and adds
// each to its elements, in the order of gather. Elements of a tile share windows in registers: 3x3
// at stride 1 loads 1.9 windows per element for 4 rows by 8 columns, where gather reads 9.
//
// A tile consists of packs of channels (nhwc). For nchw it consists of rows of 16 bytes, stored
// whole, if all rows of dx allow it, else of pairs of elements.
//
// Bytes: as gather.h. Arithmetic, for 16-bit elements: an average takes at most 240 warp
// instructions per KiB, except in pairs. An H200 issues 252 while it copies a KiB.
#pragma once

#include "ops/pooling/plane_windows.h"
#include "ops/pooling_backward/gather.h"

namespace kg::pooling_backward {

using pooling::is_below;
using pooling::Square;

// A tile: its positions, the elements per pack, and the rows of windows loaded at a time.
struct Tile {
  int down, across, pack, rows_at_once;

  constexpr bool whole_rows() const { return pack == 1 && across > 2; }
};
template <class T>
inline constexpr Tile kTileOfPacks{2, 2, kPackElements<T>, 1};
template <bool Maximum, class T>
inline constexpr Tile kTileOfRows{4, kPackElements<T>, 1, Maximum ? 1 : 2};
inline constexpr Tile kTileOfPairs{8, 2, 1, 5};

// The windows over kPlaces neighbours along one axis. The first neighbour is kPhase after the start
// of a window.
template <int kKernel, int kStride, int kPhase, int kPlaces>
struct Span {
  static constexpr int kBefore = (kKernel - 1 - kPhase) / kStride; // that window
  static constexpr int kWindows = kBefore + (kPhase + kPlaces - 1) / kStride + 1;

  // The tap of the window at the position; outside [0, kKernel) there is none.
  static constexpr int tap(int window, int place) {
    return kPhase + place + (kBefore - window) * kStride;
  }
};

// Divides by `taps` counted taps, from 1 to kKernel (2 or 3), with the correctly rounded
// reciprocal. For 0 taps the value is arbitrary.
template <int kKernel>
__device__ WholeDivisor counted(int taps) {
  WholeDivisor divisor;
  divisor.value = static_cast<float>(taps);
  divisor.reciprocal = taps == kKernel ? 1.0f / kKernel : taps == 2 ? 0.5f : 1.0f;
  return divisor;
}

// An axis split into tiles; the first begins `shift` before the input.
struct TiledAxis {
  int in, windows, before, shift;
  int lead, tail; // first and last start, counted with padding, of windows with all taps
  NarrowDivisor tiles;
  std::int64_t x_step, y_step;

  TiledAxis(const Line& line, bool include_padding, int places, int shift)
      : in(line.in), windows(line.out), before(line.before), shift(shift),
        lead(include_padding ? 0 : line.before),
        tail(line.before + line.in + (include_padding ? line.after : 0) - line.kernel),
        tiles(div_up(line.in + shift, places)), x_step(line.x_step), y_step(line.y_step) {}

  // The taps along the axis that the average of window `first` + `next` counts.
  template <int kKernel, int kStride>
  __device__ WholeDivisor counted_of(int first, int next) const {
    const int start = first * kStride; // counted from the start of the padding
    return counted<kKernel>(kKernel - max(lead - start - next * kStride, 0) -
                            max(start - tail + next * kStride, 0));
  }
};

struct Tiles {
  TiledAxis down, across;
  NarrowDivisor packs;
  unsigned threads;
  std::int64_t x_plane, y_plane;
};

// The taps that the average of a window counts.
__device__ inline WholeDivisor product(const WholeDivisor& down, const WholeDivisor& across) {
  WholeDivisor taps;
  taps.value = down.value * across.value;
  taps.reciprocal = down.reciprocal * across.reciprocal;
  return taps;
}

// 16-bit types add shares as products with a reciprocal whose relative error is 2^-22. A quotient
// by 9 or less is at least 2^-17 of itself away from a rounding boundary of these types. fmaf is
// explicit because nvcc would fuse only some of these operations.
template <bool Maximum, class T>
inline constexpr bool kAddsProducts = !Maximum && sizeof(T) < sizeof(float);

// At most 80 registers per thread; 128 for packs with positions of maxima.
template <bool Maximum, int kPack>
inline constexpr int kTileBlocksPerSm = Maximum&& kPack > 1 ? 2 : 3;

// `choices` as in gather.
template <bool Maximum, class T, int kKernel, int kStride, int kPhase, int kDown, int kAcross,
          int kPack, int kRowsAtOnce>
__global__ void __launch_bounds__(kThreads, (kTileBlocksPerSm<Maximum, kPack>))
    gather_tiles(const T* __restrict__ dy, const std::uint8_t* __restrict__ choices,
                 T* __restrict__ dx, Tiles tiles) {
  using Down = Span<kKernel, kStride, 0, kDown>;
  using Across = Span<kKernel, kStride, kPhase, kAcross>;
  constexpr bool kWholeRows = kPack == 1 && kAcross > 2;
  constexpr int kAtOnce = kRowsAtOnce * Across::kWindows;
  unsigned plane = blockIdx.x * kThreads + threadIdx.x;
  if (plane >= tiles.threads) return;
  const TiledAxis& vertical = tiles.down;
  const TiledAxis& horizontal = tiles.across;
  const std::int64_t inner = static_cast<std::int64_t>(tiles.packs.take_last(plane)) * kPack;
  const int column =
      static_cast<int>(horizontal.tiles.take_last(plane)) * kAcross - horizontal.shift;
  const int row = static_cast<int>(vertical.tiles.take_last(plane)) * kDown - vertical.shift;
  const int left = (column + horizontal.before) / kStride - Across::kBefore;
  const int top = (row + vertical.before) / kStride - Down::kBefore;
  const std::int64_t from =
      plane * tiles.y_plane + top * vertical.y_step + left * horizontal.y_step + inner;
  const T* dy_row = dy + from;
  const std::uint8_t* choices_row = choices + from;
  const std::int64_t step = kPack == 1 ? 1 : horizontal.y_step;
  const std::int64_t step_of_x = kPack == 1 ? 1 : horizontal.x_step;
  WholeDivisor of_column[Across::kWindows];
  KG_UNROLL
  for (int j = 0; j < Across::kWindows; ++j)
    if constexpr (!Maximum) of_column[j] = horizontal.counted_of<kKernel, kStride>(left, j);

  Floats<kPack> sums[kDown][kAcross] = {};
  KG_UNROLL
  for (int first = 0; first < Down::kWindows; first += kRowsAtOnce) {
    StoredPack<T, kPack> gradients[kAtOnce] = {};
    StoredPack<std::uint8_t, kPack> chosen[kAtOnce] = {};
    KG_UNROLL
    for (int i = 0; i < kRowsAtOnce; ++i) {
      KG_UNROLL
      for (int j = 0; j < Across::kWindows; ++j) {
        if (first + i >= Down::kWindows || !is_below(top + first + i, vertical.windows) ||
            !is_below(left + j, horizontal.windows))
          continue;
        gradients[i * Across::kWindows + j].load(dy_row + j * step);
        if constexpr (Maximum) chosen[i * Across::kWindows + j].load(choices_row + j * step);
      }
      dy_row += vertical.y_step;
      if constexpr (Maximum) choices_row += vertical.y_step;
    }
    loaded(gradients);
    if constexpr (Maximum) loaded(chosen);
    KG_UNROLL
    for (int w = 0; w < kAtOnce; ++w) {
      const int i = first + w / Across::kWindows;
      const int j = w % Across::kWindows;
      Floats<kPack> values = widened(gradients[w]);
      const Pack<std::uint8_t, kPack> choice = chosen[w].pack();
      WholeDivisor taps;
      if constexpr (!Maximum) {
        taps = product(vertical.counted_of<kKernel, kStride>(top, i), of_column[j]);
        KG_UNROLL
        for (int c = 0; c < kPack; ++c)
          if (!kAddsProducts<Maximum, T>) values.value[c] = taps.quotient(values.value[c]);
      }
      KG_UNROLL
      for (int place = 0; place < kDown * kAcross; ++place) {
        const int tap_down = Down::tap(i, place / kAcross);
        const int tap_across = Across::tap(j, place % kAcross);
        if (!is_below(tap_down, kKernel) || !is_below(tap_across, kKernel)) continue;
        Floats<kPack>& sum = sums[place / kAcross][place % kAcross];
        KG_UNROLL
        for (int c = 0; c < kPack; ++c)
          if (kAddsProducts<Maximum, T>)
            sum.value[c] = fmaf(values.value[c], taps.reciprocal, sum.value[c]);
          else if (!Maximum || choice.element[c] == tap_down * kKernel + tap_across)
            sum.value[c] += values.value[c];
      }
    }
  }

  T* const to = dx + plane * tiles.x_plane + row * vertical.x_step + column * step_of_x + inner;
  KG_UNROLL
  for (int r = 0; r < kDown; ++r) {
    if (!is_below(row + r, vertical.in)) continue;
    T* const to_row = to + r * vertical.x_step;
    if constexpr (kWholeRows) {
      Pack<T, kAcross> stored;
      KG_UNROLL
      for (int e = 0; e < kAcross; ++e) stored.element[e] = from_float<T>(sums[r][e].value[0]);
      store_wide(reinterpret_cast<Pack<T, kAcross>*>(to_row), stored);
    } else {
      KG_UNROLL
      for (int e = 0; e < kAcross; ++e) {
        if (!is_below(column + e, horizontal.in)) continue;
        Pack<T, kPack> stored;
        KG_UNROLL
        for (int c = 0; c < kPack; ++c) stored.element[c] = from_float<T>(sums[r][e].value[c]);
        store_wide(reinterpret_cast<Pack<T, kPack>*>(to_row + e * step_of_x), stored);
      }
    }
  }
}

} // namespace kg::pooling_backward
