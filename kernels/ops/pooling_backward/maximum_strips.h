// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a maximum in one step, for windows that hardly overlap: 2x2 and 3x3 at stride 2.
// A thread walks down a strip of dx, a few columns wide, one row of windows at a time. It finds
// each window's maximum as choose_packs.h does and reuses the candidates of the row of x that two
// windows share. It adds in the order of gather.h: the bits are the same. Data for the next rows of
// windows is prefetched. maximum_rows.h defines the columns for planes, maximum_channels.h for
// packs of channels.
//
// For a tap above the input, the nearest element stands in, with its own position. Below the input,
// the nearest element comes earlier in the window, so its copies at later positions are not chosen.
#pragma once

#include "ops/pooling_backward/candidates.h"
#include "ops/pooling_backward/tiles.h"
#include "runtime/device.h"

#include <algorithm>
#include <cstdint>

namespace kg::pooling_backward {

inline constexpr int kMaximumThreads = 128;
inline constexpr int kMaximumStride = 2;
inline constexpr int kRowOfPlaces = 16; // from a position to the one below it

// Thread index order over dx: packs of channels (fastest), columns, strips of `rows` rows, planes.
struct Strips {
  TiledAxis down, across;
  NarrowDivisor packs;
  int rows;
  std::int64_t threads, x_plane, y_plane;
};

// If windows overlap, strips are long, because a thread also searches the windows above its strip.
// They still leave enough threads to fill the GPU and are about equally long. If windows do not
// overlap, strips are short, which shortens the tail of the grid.
template <int kKernel>
Strips strips_of(const Geometry& g, const TiledAxis& across, std::int64_t packs,
                 int blocks_per_sm) {
  constexpr std::int64_t kLeast = 8, kMost = kKernel > kMaximumStride ? 40 : kLeast;
  const std::int64_t rows = g.vertical.in + 1; // strips may begin before the input
  const std::int64_t columns = g.outer * across.tiles.value * packs;
  const std::int64_t resident =
      std::int64_t{kMaximumThreads} * blocks_per_sm * device_properties().sm_count;
  const std::int64_t wanted =
      std::clamp(div_up(resident, columns), div_up(rows, kMost), div_up(rows, kLeast));
  const auto of_strip = static_cast<int>(div_up(rows, 2 * wanted) * 2);
  const TiledAxis down(g.vertical, false, of_strip, g.vertical.before % of_strip);
  return {down,      across,   NarrowDivisor(packs), of_strip, columns * down.tiles.value,
          g.x_plane, g.y_plane};
}

// Offers candidates of column c to the adjacent windows that contain it; columns come in order.
template <int kKernel, class Best, int kWindows>
__device__ __forceinline__ void challenge(Best (&best)[kWindows], int c, const Best& candidates) {
  KG_UNROLL
  for (int j = 0; j < kWindows; ++j) {
    if (c == j * kMaximumStride)
      best[j] = candidates;
    else if (is_below(c - j * kMaximumStride, kKernel))
      best[j].challenge(candidates);
  }
}

// Computes the strip from row `row` on, which may be above the input. Columns defines the thread's
// columns and the windows over them. It loads rows of x and the windows' gradients, finds each
// window's best of a row, and stores rows of dx.
template <int kKernel, int kAhead, class T, class Columns>
__device__ __forceinline__ void hand_to_maxima(const Strips& strips, int row,
                                               const Columns& columns) {
  constexpr int kStride = kMaximumStride;
  constexpr int kShared = kKernel - kStride; // rows that vertical neighbours share
  constexpr int kChannels = Columns::kChannels;
  constexpr int kAcross = Columns::kAcross;
  using Across = typename Columns::Windows;
  constexpr int kWindows = Across::kWindows;
  using Row = typename Columns::Row;
  using Best = typename Columns::Best;
  static_assert(kKernel * kRowOfPlaces - 1 <= kLastPlace && Columns::kColumns <= kRowOfPlaces);
  const TiledAxis& vertical = strips.down;
  const int first = row - kShared * kStride; // row of the first window
  const int top = (row + vertical.before) / kStride - kShared;
  const int rows_of_windows = (min(strips.rows, vertical.in - row) + 1) / kStride + kShared;
  const auto x_step = static_cast<int>(vertical.x_step);
  const auto y_step = static_cast<int>(vertical.y_step);

  // Loaded ahead: the rows of x that the windows above do not contain, and the windows' gradients.
  struct Asked {
    Row rows[kStride];
    StoredPack<T, kChannels> gradients[kWindows];
  };
  const auto ask_row = [&](Row & asked, int at) __attribute__((always_inline)) {
    columns.prefetch(asked, min(max(at, 0), vertical.in - 1) * x_step);
  };
  const auto prefetch = [&](Asked & asked, int i) __attribute__((always_inline)) {
    KG_UNROLL
    for (int r = 0; r < kStride; ++r) ask_row(asked.rows[r], first + i * kStride + kShared + r);
    KG_UNROLL
    for (int j = 0; j < kWindows; ++j) asked.gradients[j].set({});
    columns.prefetch(asked.gradients, (top + i) * y_step, is_below(top + i, vertical.windows));
  };
  // Row r of the windows that begin at row `start`.
  const auto best_of_row = [&](Best(&best)[kWindows], const Row& of, int start, int r)
      __attribute__((always_inline)) {
    columns.best_of_row(best, of, (max(start + r, 0) - start) * kRowOfPlaces);
  };

  Asked asked[kAhead];
  Best shared[kWindows];                // of the row shared with the next windows
  Floats<kChannels> kept[kAcross] = {}; // the sums of that row
  Row start;
  if constexpr (kShared > 0) ask_row(start, first);
  KG_UNROLL
  for (int a = 0; a < kAhead; ++a) prefetch(asked[a], a);
  if constexpr (kShared > 0) {
    start.loaded();
    best_of_row(shared, start, first, 0);
  }

  KG_ROLLED
  for (int begin = 0; begin < rows_of_windows; begin += kAhead) {
    KG_UNROLL
    for (int a = 0; a < kAhead; ++a) {
      const int i = begin + a;
      if (i >= rows_of_windows) break;
      const int start_of_windows = first + i * kStride;
      Best best[kWindows];
      Floats<kChannels> values[kWindows];
      KG_UNROLL
      for (int r = 0; r < kStride; ++r) asked[a].rows[r].loaded();
      loaded(asked[a].gradients);
      KG_UNROLL
      for (int j = 0; j < kWindows; ++j) {
        if constexpr (kShared > 0) best[j] = shared[j];
        values[j] = unpack_pairs(asked[a].gradients[j]);
      }
      KG_UNROLL
      for (int r = kShared; r < kKernel; ++r) {
        Best of_row[kWindows];
        best_of_row(of_row, asked[a].rows[r - kShared], start_of_windows, r);
        KG_UNROLL
        for (int j = 0; j < kWindows; ++j) {
          if (r == 0)
            best[j] = of_row[j];
          else
            best[j].challenge(of_row[j]);
          if (r < kStride) continue;
          shared[j] = of_row[j];
          shared[j].move_on(-kStride * kRowOfPlaces);
        }
      }
      if (i + kAhead < rows_of_windows) prefetch(asked[a], i + kAhead);

      KG_UNROLL
      for (int r = 0; r < kKernel; ++r) {
        Floats<kChannels> sums[kAcross] = {};
        KG_UNROLL
        for (int e = 0; e < kAcross; ++e)
          if (r < kShared) sums[e] = kept[e];
        KG_UNROLL
        for (int j = 0; j < kWindows; ++j) {
          KG_UNROLL
          for (int e = 0; e < kAcross; ++e) {
            if (!is_below(Across::tap(j, e), kKernel)) continue;
            KG_UNROLL
            for (int c = 0; c < kChannels; ++c)
              if (best[j].is_at(c, r * kRowOfPlaces + Columns::kBefore + e))
                sums[e].value[c] += values[j].value[c];
          }
        }
        const int at = start_of_windows + r;
        if (r < kStride) {
          columns.store(at * x_step, sums, i >= kShared && is_below(at, vertical.in));
        } else {
          KG_UNROLL
          for (int e = 0; e < kAcross; ++e) kept[e] = sums[e];
        }
      }
    }
  }
}

} // namespace kg::pooling_backward
