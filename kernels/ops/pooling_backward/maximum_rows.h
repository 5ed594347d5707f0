// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The strips of maximum_strips.h for planes (nchw) whose rows are whole packs. A thread's strip is
// one pack wide.
//
// For a tap beside the input, the nearest element stands in, with its own position.
//
// Bytes: x and dy are read from memory once, dx is written once, and no choices are stored. L1
// serves x 1.1 times, plus the elements beside each pack. Arithmetic, for 3x3 in 16 bits: 312 warp
// instructions per row of windows, of 550 that an H200 issues while it copies the same bytes.
// Expected there: 90 % of copy bandwidth. choose_planes and gather_tiles had 60 % (bf16).
// choose_planes took 430 instructions where 275 fit and loaded single elements, and choices must be
// written and read again.
#pragma once

#include "ops/pooling_backward/maximum_strips.h"

namespace kg::pooling_backward {

inline constexpr int kMaximumRowsBlocksPerSm = 5; // at most 102 registers per thread
inline constexpr int kMaximumRowsAhead = 2;       // rows of windows loaded ahead

// A thread's part of a row of x: a pack, and the elements beside it that its windows contain.
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
  // Positions count from 0.
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

// The Columns of hand_to_maxima for one pack of a row.
template <class T, int kKernel, int kPhase>
struct PackOfRow {
  static constexpr int kAcross = kPackElements<T>;
  static constexpr int kChannels = 1;
  using Windows = Span<kKernel, kMaximumStride, kPhase, kAcross>;
  static constexpr int kBefore = Windows::kBefore * kMaximumStride + kPhase;
  static constexpr int kBehind =
      (Windows::kWindows - 1) * kMaximumStride + kKernel - kBefore - kAcross;
  using Row = RowBeside<T, kBefore, kBehind>;
  static constexpr int kColumns = Row::kColumns;
  using Best = Candidates<T, kChannels>;

  const T *from, *dy;
  T* to;
  int left, windows; // the first window over the pack; windows per row
  bool has_before, has_behind;

  __device__ __forceinline__ void prefetch(Row& row, int offset) const {
    row.load(from + offset, has_before, has_behind);
  }
  __device__ __forceinline__ void prefetch(StoredPack<T, 1> (&gradients)[Windows::kWindows],
                                           int offset, bool exists) const {
    KG_UNROLL
    for (int j = 0; j < Windows::kWindows; ++j)
      if (exists && is_below(left + j, windows)) gradients[j].load(dy + (offset + j));
  }
  __device__ __forceinline__ void best_of_row(Best (&best)[Windows::kWindows], const Row& row,
                                              int place) const {
    Candidate<T> candidates[kColumns];
    row.make(candidates, has_before, has_behind);
    KG_UNROLL
    for (int c = 0; c < kColumns; ++c) challenge<kKernel>(best, c, Best(candidates[c]));
    KG_UNROLL
    for (int j = 0; j < Windows::kWindows; ++j) best[j].move_on(place);
  }
  __device__ __forceinline__ void store(int offset, const Floats<1> (&sums)[kAcross],
                                        bool exists) const {
    Pack<T, kAcross> stored;
    KG_UNROLL
    for (int e = 0; e < kAcross; ++e) stored.element[e] = from_float<T>(sums[e].value[0]);
    if (exists) store_wide(reinterpret_cast<Pack<T, kAcross>*>(to + offset), stored);
  }
};

template <int kKernel>
Strips strips_of_rows(const Geometry& g, int pack) {
  return strips_of<kKernel>(g, TiledAxis(g.horizontal, false, pack, 0), 1, kMaximumRowsBlocksPerSm);
}

template <class T, int kKernel, int kPhase>
__global__ void __launch_bounds__(kMaximumThreads, kMaximumRowsBlocksPerSm)
    maximum_rows(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx,
                 Strips strips) {
  using Columns = PackOfRow<T, kKernel, kPhase>;
  const TiledAxis& horizontal = strips.across;
  unsigned plane = blockIdx.x * kMaximumThreads + threadIdx.x;
  if (plane >= strips.threads) return;
  const auto pack = static_cast<int>(horizontal.tiles.take_last(plane));
  const int row =
      static_cast<int>(strips.down.tiles.take_last(plane)) * strips.rows - strips.down.shift;
  const int column = pack * Columns::kAcross;
  const int left = (column + horizontal.before) / kMaximumStride - Columns::Windows::kBefore;
  hand_to_maxima<kKernel, kMaximumRowsAhead, T>(
      strips, row,
      Columns{x + (plane * strips.x_plane + column), dy + (plane * strips.y_plane + left),
              dx + (plane * strips.x_plane + column), left, horizontal.windows, pack > 0,
              pack + 1 < static_cast<int>(horizontal.tiles.value)});
}

} // namespace kg::pooling_backward
