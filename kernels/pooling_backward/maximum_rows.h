// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradient of a maximum of planes (nchw) in one step, of windows that hardly overlap: 2x2 and
// 3x3 at stride 2, where rows are whole packs. A thread walks down a strip of dx, a pack wide, from
// one row of windows to the next. It finds each window's maximum as choose_packs.h does, keeps what
// the row of x that two windows share had, and adds in the order of gather.h: the bits are the
// same. What the next rows of windows need is asked for before it is used.
//
// Where a tap lies outside of the input the nearest element is taken instead, at its own place.
//
// Bytes: x and dy are read from memory once, dx is written once, and no choices are kept; L1 is
// asked for x 1.1 times and for the elements beside each pack. Arithmetic, of 3x3 in 16 bits: 310
// instructions of a warp for a row of windows, of 550 that an H200 issues while it copies what they
// move. Expected there: 90 % of a copy's rate. choose_planes and gather_tiles had 60 % (bf16): the
// first took 430 instructions, of 275 that it could, and loaded single elements, and choices are
// bytes to write and to read again.
#pragma once

#include "pooling_backward/candidates.h"
#include "pooling_backward/tiles.h"
#include "runtime/device.h"

#include <algorithm>
#include <cstdint>

namespace kg::pooling_backward {

inline constexpr int kMaximumThreads = 128;
inline constexpr int kMaximumBlocksPerSm = 5; // at most 102 registers per thread
inline constexpr int kMaximumAhead = 2; // rows of windows that are asked for before they are used
inline constexpr int kRowOfPlaces = 16; // from a place to the one below it

// How threads lie over dx: packs of a row first, then strips of `rows` rows, then planes.
struct Strips {
  TiledAxis down, across;
  int rows;
  std::int64_t threads, x_plane, y_plane;
};

// A thread has many rows, since it searches the windows above its strip, too, but no more than
// leave as many threads as a GPU takes; about as many in each strip.
inline Strips strips_of(const Geometry& g, int pack) {
  constexpr std::int64_t kLeast = 8, kMost = 40;
  const std::int64_t rows = g.vertical.in + 1; // strips may begin before the input
  const std::int64_t columns = g.outer * (g.horizontal.in / pack);
  const std::int64_t resident =
      std::int64_t{kMaximumThreads} * kMaximumBlocksPerSm * device_properties().sm_count;
  const std::int64_t wanted =
      std::clamp(div_up(resident, columns), div_up(rows, kMost), div_up(rows, kLeast));
  const auto of_strip = static_cast<int>(div_up(rows, 2 * wanted) * 2);
  const TiledAxis down(g.vertical, false, of_strip, true);
  return {down,      TiledAxis(g.horizontal, false, pack, false),
          of_strip,  columns * down.tiles.value,
          g.x_plane, g.y_plane};
}

// A thread's part of a row of x: a pack, and what windows over it hold before and behind.
template <class T, int kBefore, int kBehind>
class RowBeside {
  static constexpr int kCount = kPackElements<T>;

 public:
  static constexpr int kColumns = kBefore + kCount + kBehind;

  __device__ __forceinline__ void load(const T* from, bool has_before, bool has_behind) {
    pack_[0].load(from);
    if (kBefore > 0 && has_before) before_[0].load(from - kBefore);
    if (kBehind > 0 && has_behind) behind_[0].load(from + kCount);
  }
  __device__ __forceinline__ void loaded() {
    kg::loaded(pack_);
    kg::loaded(before_);
    kg::loaded(behind_);
  }
  // At places from 0 on.
  __device__ __forceinline__ void make(Candidate<T> (&row)[kColumns], bool has_before,
                                       bool has_behind) const {
    Candidate<T> own[kCount];
    Candidate<T>::template make<1>(own, pack_[0], kBefore);
    KG_UNROLL
    for (int e = 0; e < kCount; ++e) row[kBefore + e] = own[e];
    if constexpr (kBefore > 0) {
      Candidate<T> before[kBefore];
      Candidate<T>::template make<1>(before, before_[0], 0);
      KG_UNROLL
      for (int e = 0; e < kBefore; ++e) row[e] = has_before ? before[e] : own[0];
    }
    if constexpr (kBehind > 0) {
      Candidate<T> behind[kBehind];
      Candidate<T>::template make<1>(behind, behind_[0], kBefore + kCount);
      KG_UNROLL
      for (int e = 0; e < kBehind; ++e)
        row[kBefore + kCount + e] = has_behind ? behind[e] : own[kCount - 1];
    }
  }

 private:
  StoredPack<T, kCount> pack_[1];
  StoredPack<T, kBefore + (kBefore == 0)> before_[1] = {};
  StoredPack<T, kBehind + (kBehind == 0)> behind_[1] = {};
};

// What a thread asks for to look into a row of windows: the rows of x that the windows above do not
// have, and what is handed on.
template <class T, class Row, int kRows, int kWindows>
struct WindowRow {
  Row rows[kRows];
  StoredPack<T, 1> gradients[kWindows];

  __device__ __forceinline__ void loaded() {
    KG_UNROLL
    for (int r = 0; r < kRows; ++r) rows[r].loaded();
    kg::loaded(gradients);
  }
};

template <class T, int kKernel, int kPhase>
__global__ void __launch_bounds__(kMaximumThreads, kMaximumBlocksPerSm)
    maximum_rows(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx,
                 Strips strips) {
  constexpr int kStride = 2;
  constexpr int kCount = kPackElements<T>;
  constexpr int kShared = kKernel - kStride; // rows of windows below each other
  using Across = Span<kKernel, kStride, kPhase, kCount>;
  constexpr int kWindows = Across::kWindows;
  constexpr int kBefore = Across::kBefore * kStride + kPhase;
  constexpr int kBehind = (kWindows - 1) * kStride + kKernel - kBefore - kCount;
  using Row = RowBeside<T, kBefore, kBehind>;
  static_assert(kKernel * kRowOfPlaces - 1 <= kLastPlace && Row::kColumns <= kRowOfPlaces);
  const TiledAxis& vertical = strips.down;
  const TiledAxis& horizontal = strips.across;
  unsigned plane = blockIdx.x * kMaximumThreads + threadIdx.x;
  if (plane >= strips.threads) return;
  const auto pack = static_cast<int>(horizontal.tiles.take_last(plane));
  const int row = static_cast<int>(vertical.tiles.take_last(plane)) * strips.rows - vertical.shift;
  const int column = pack * kCount;
  const bool has_before = pack > 0;
  const bool has_behind = pack + 1 < static_cast<int>(horizontal.tiles.value);
  const int first = row - kShared * kStride; // of the first window
  const int left = (column + horizontal.before) / kStride - Across::kBefore;
  const int top = (row + vertical.before) / kStride - kShared;
  const int rows_of_windows = (min(strips.rows, vertical.in - row) + 1) / kStride + kShared;
  const T* const from = x + (plane * strips.x_plane + column);
  const T* const windows = dy + (plane * strips.y_plane + left);
  T* const to = dx + (plane * strips.x_plane + column);

  const auto x_step = static_cast<int>(vertical.x_step);
  const auto y_step = static_cast<int>(vertical.y_step);
  const auto nearest = [&](int at) { return min(max(at, 0), vertical.in - 1); };
  using Asked = WindowRow<T, Row, kStride, kWindows>;
  const auto ask = [&](Asked & asked, int i) __attribute__((always_inline)) {
    KG_UNROLL
    for (int r = 0; r < kStride; ++r)
      asked.rows[r].load(from + nearest(first + i * kStride + kShared + r) * x_step, has_before,
                         has_behind);
    const T* const of_row = windows + (top + i) * y_step;
    KG_UNROLL
    for (int j = 0; j < kWindows; ++j) {
      asked.gradients[j].set({});
      if (is_below(top + i, vertical.windows) && is_below(left + j, horizontal.windows))
        asked.gradients[j].load(of_row + j);
    }
  };
  const auto best_of_row = [&](Candidate<T>(&best)[kWindows], const Row& of)
      __attribute__((always_inline)) {
    Candidate<T> elements[Row::kColumns];
    of.make(elements, has_before, has_behind);
    KG_UNROLL
    for (int j = 0; j < kWindows; ++j) {
      best[j] = elements[j * kStride];
      KG_UNROLL
      for (int tap = 1; tap < kKernel; ++tap) best[j].challenge(elements[j * kStride + tap]);
    }
  };

  Asked asked[kMaximumAhead];
  Candidate<T> shared[kWindows]; // the best of the row that the next windows have, too
  Floats<kCount> kept = {};      // the sums of that row
  Row start;
  if constexpr (kShared > 0) start.load(from + nearest(first) * x_step, has_before, has_behind);
  KG_UNROLL
  for (int a = 0; a < kMaximumAhead; ++a) ask(asked[a], a);
  if constexpr (kShared > 0) {
    start.loaded();
    best_of_row(shared, start);
  }

  KG_ROLLED
  for (int begin = 0; begin < rows_of_windows; begin += kMaximumAhead) {
    KG_UNROLL
    for (int a = 0; a < kMaximumAhead; ++a) {
      const int i = begin + a;
      if (i >= rows_of_windows) break;
      asked[a].loaded();
      Candidate<T> of_rows[kKernel][kWindows];
      float values[kWindows];
      KG_UNROLL
      for (int j = 0; j < kWindows; ++j) {
        if constexpr (kShared > 0) of_rows[0][j] = shared[j];
        values[j] = widened(asked[a].gradients[j]).value[0];
      }
      KG_UNROLL
      for (int r = 0; r < kStride; ++r) best_of_row(of_rows[kShared + r], asked[a].rows[r]);
      if (i + kMaximumAhead < rows_of_windows) ask(asked[a], i + kMaximumAhead);

      Floats<kCount> sums[kKernel] = {};
      if constexpr (kShared > 0) sums[0] = kept;
      const int start_of_windows = first + i * kStride;
      KG_UNROLL
      for (int j = 0; j < kWindows; ++j) {
        Candidate<T> best;
        KG_UNROLL
        for (int r = 0; r < kKernel; ++r) {
          if (r >= kShared) shared[j] = of_rows[r][j];
          Candidate<T> of_row = of_rows[r][j];
          of_row.move_on((nearest(start_of_windows + r) - start_of_windows) * kRowOfPlaces);
          if (r == 0)
            best = of_row;
          else
            best.challenge(of_row);
        }
        KG_UNROLL
        for (int r = 0; r < kKernel; ++r) {
          KG_UNROLL
          for (int e = 0; e < kCount; ++e)
            if (is_below(Across::tap(j, e), kKernel) && best.is_at(r * kRowOfPlaces + kBefore + e))
              sums[r].value[e] += values[j];
        }
      }
      KG_UNROLL
      for (int r = 0; r < kStride; ++r) {
        if (i < kShared || !is_below(start_of_windows + r, vertical.in)) continue;
        Pack<T, kCount> stored;
        KG_UNROLL
        for (int e = 0; e < kCount; ++e) stored.element[e] = from_float<T>(sums[r].value[e]);
        store_wide(reinterpret_cast<Pack<T, kCount>*>(to + (start_of_windows + r) * x_step),
                   stored);
      }
      kept = sums[kKernel - 1];
    }
  }
}

} // namespace kg::pooling_backward
