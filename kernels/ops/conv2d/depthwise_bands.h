// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant depthwise, in nchw, of 3x3 kernels of stride 1 in f16 and bf16 with one output
// for each channel, where rows of x and y are as many whole packs of 16 bytes: on matrix units.
//
// A column of taps is a matrix of bands: element (m, k) is tap k - m, and its product with 16 rows
// of x is what this column gives to 14 rows of y. Three such products, with x a place to the left,
// as it is and a place to the right, are the convolution: 24 instructions for 14 rows of 64 places,
// where the multiply-adds would be 252. As b of the product (mma.h) a lane holds a pack of each of
// 4 rows, a column of the matrix in two registers; a place to the left is the register before, and
// only what lies beside the pack comes from other lanes.
//
// Bytes: x and y once; 2 of 16 rows of a tile come from L1 or L2 again. A warp goes down its plane,
// and the next two tiles, 3.5 KiB, are under way while it multiplies (one, of rows of several
// tiles). Instructions of a warp per 32 packs of y (sm_90a, planes of 56 x 56): 61, and 20 for a
// plane's beginning, where depthwise_rows.h has 155 and an H200 issues 252 while it copies what
// they move.
//
// A matrix unit multiplies the zeros around the bands, too, and zero times what is not finite is no
// zero: every row of the column would have it. So one row of each column is looked at, and where it
// is not finite the warp computes all of its places again, without matrix units.
#pragma once

#include "instructions/mma.h"
#include "primitives/divisor.h"
#include "primitives/stored_pack.h"
#include "primitives/warp.h"
#include "primitives/window_taps.h"

#include <cstring>
#include <limits>

namespace kg::conv2d {

inline constexpr int kBandsThreads = 128;
inline constexpr int kBandsBlocksPerSm = 4; // at most 128 registers per thread
inline constexpr int kBandsKernel = 3;
inline constexpr int kBandsIn = 16; // rows of x of a tile
inline constexpr int kBandsOut = kBandsIn - kBandsKernel + 1;
inline constexpr int kBandsPacks = 8; // of a row of a tile

// A convolution as warps see it; they are counted down parts of a column of tiles, along columns
// and through planes of y.
struct DepthwiseBands {
  window::Line vertical, horizontal;
  int packs; // of a row
  int tiles; // below each other, of a warp
  NarrowDivisor parts, across, channels;
  unsigned warps;
};

// Of a tile what a lane loads: a pack of rows 4 q to 4 q + 3, q being the lane's number in its
// quad; and, where there are several tiles along a row, of a tile's first and last packs the
// elements beside them.
template <class T, bool kSeveral>
class BandsRows {
  static constexpr int kRows = 4;
  static constexpr int kCount = kPackElements<T>;
  using Words = unsigned[kCount / 2];

 public:
  // `from`: the pack in the first row, which is row `row` of `rows` ones.
  __device__ __forceinline__ void load(const T* from, int row, int rows, int width, bool has_pack,
                                       int beside, bool has_beside) {
    KG_UNROLL
    for (int r = 0; r < kRows; ++r, ++row) {
      pack_[r].set({});
      beside_[r].set({});
      if (!has_pack || static_cast<unsigned>(row) >= static_cast<unsigned>(rows)) continue;
      const T* const at = from + r * width;
      pack_[r].load(at);
      if (kSeveral && has_beside) beside_[r].load(at + beside);
    }
  }
  __device__ __forceinline__ void loaded() {
    kg::loaded(pack_);
    if constexpr (kSeveral) kg::loaded(beside_);
  }

  // columns[1 + c]: column c of the pack, from the one before to the one behind, which the lanes
  // `before` and `behind` have. Two rows in each register.
  __device__ __forceinline__ void columns(unsigned (&columns)[kCount + 2][2], int before,
                                          int behind, bool is_first, bool is_last) const {
    KG_UNROLL
    for (int p = 0; p < 2; ++p) {
      Words above, below;
      words(pack_[2 * p], above);
      words(pack_[2 * p + 1], below);
      KG_UNROLL
      for (int w = 0; w < kCount / 2; ++w) {
        columns[1 + 2 * w][p] = __byte_perm(above[w], below[w], 0x5410);
        columns[2 + 2 * w][p] = __byte_perm(above[w], below[w], 0x7632);
      }
      const unsigned left = __shfl_sync(kAllLanes, columns[kCount][p], before);
      const unsigned right = __shfl_sync(kAllLanes, columns[1][p], behind);
      unsigned beside = 0;
      if constexpr (kSeveral) beside = pair(element(beside_[2 * p]), element(beside_[2 * p + 1]));
      columns[0][p] = is_first ? beside : left;
      columns[kCount + 1][p] = is_last ? beside : right;
    }
  }

  // Two elements in a register, the lower half first.
  static __device__ __forceinline__ unsigned pair(T low, T high) {
    const T both[2] = {low, high};
    unsigned bits;
    memcpy(&bits, &both, sizeof bits);
    return bits;
  }

 private:
  static __device__ __forceinline__ void words(const StoredPack<T, kCount>& stored, Words& word) {
    const Pack<T, kCount> pack = stored.pack();
    memcpy(&word, &pack, sizeof word);
  }
  static __device__ __forceinline__ T element(const StoredPack<T, 1>& stored) {
    return stored.pack().element[0];
  }

  StoredPack<T, kCount> pack_[kRows];
  StoredPack<T, 1> beside_[kRows];
};

// A place of y without matrix units.
template <class T>
__device__ __forceinline__ float plain_window(const T* x_plane, const T* filter,
                                              const DepthwiseBands& d, int row, int column) {
  const window::Taps down = window::taps_of(d.vertical, row);
  const window::Taps along = window::taps_of(d.horizontal, column);
  float sum = 0;
  for (int u = down.first; u < down.end; ++u)
    for (int v = along.first; v < along.end; ++v)
      sum = fmaf(to_float(x_plane[(down.start + u) * d.vertical.x_step + along.start + v]),
                 to_float(filter[u * d.horizontal.kernel + v]), sum);
  return sum;
}

template <class T, bool kSeveral>
__global__ void __launch_bounds__(kBandsThreads, kBandsBlocksPerSm)
    depthwise_bands(const T* __restrict__ x, const T* __restrict__ weights,
                    const T* __restrict__ bias, T* __restrict__ y, DepthwiseBands d) {
  constexpr int kCount = kPackElements<T>;
  using Rows = BandsRows<T, kSeveral>;
  unsigned plane = (blockIdx.x * kBandsThreads + threadIdx.x) / kLanes;
  if (plane >= d.warps) return;
  const int lane = static_cast<int>(threadIdx.x % kLanes), quarter = lane % 4, group = lane / 4;
  const int begin = static_cast<int>(d.parts.take_last(plane)) * d.tiles * kBandsOut; // row of y
  const int end = min(begin + d.tiles * kBandsOut, d.vertical.out);
  const int left = static_cast<int>(d.across.take_last(plane)) * kBandsPacks;
  unsigned image = plane;
  const unsigned channel = d.channels.take_last(image);
  const int width = d.horizontal.in;
  const T* const x_plane = x + plane * static_cast<std::int64_t>(d.vertical.in) * width;
  T* const y_plane = y + plane * static_cast<std::int64_t>(d.vertical.out) * width;

  // Column n of the product is pack n / 2 of the tile's first half or, of odd n, of its second one:
  // a lane then has the same pack of both halves in the result.
  const int across = group / 2 + group % 2 * 4;
  const auto lane_of = [&](int pack) __attribute__((always_inline)) {
    return (pack % 4 * 2 + pack / 4 % 2) * 4 + quarter;
  };
  const int before = lane_of(across + kBandsPacks - 1), behind = lane_of(across + 1);
  const bool is_first = across == 0, is_last = across == kBandsPacks - 1;
  const int pack = left + across;
  const bool has_beside = is_first ? left > 0 : is_last && pack + 1 < d.packs;
  int row = begin - d.vertical.before + 4 * quarter; // of x, the next one that is loaded
  const T* from = x_plane + (row * static_cast<std::int64_t>(width) + pack * kCount);
  const auto load = [&](Rows & rows) __attribute__((always_inline)) {
    rows.load(from, row, d.vertical.in, width, pack < d.packs, is_first ? -1 : kCount, has_beside);
    row += kBandsOut;
    from += kBandsOut * width;
  };
  constexpr int kAhead = kSeveral ? 1 : 2;
  Rows ring[kAhead];
  KG_UNROLL
  for (int a = 0; a < kAhead; ++a) load(ring[a]); // rows behind the last one are none of x's

  const T* const filter = weights + channel * std::int64_t{kBandsKernel * kBandsKernel};
  const T zero = from_float<T>(0.0f);
  unsigned bands[kBandsKernel][4];
  KG_UNROLL
  for (int v = 0; v < kBandsKernel; ++v) {
    KG_UNROLL
    for (int r = 0; r < 4; ++r) {
      const int tap = 4 * quarter + r / 2 * 2 - (group + r % 2 * 8);
      const auto at = [&](int u) __attribute__((always_inline)) {
        return u >= 0 && u < kBandsKernel ? filter[u * kBandsKernel + v] : zero;
      };
      bands[v][r] = Rows::pair(at(tap), at(tap + 1));
    }
  }
  const float added = bias == nullptr ? 0.0f : to_float(bias[channel]);

  const int to_pack = left + quarter; // and the one 4 packs behind
  T* to = y_plane + ((begin + group) * static_cast<std::int64_t>(width) + to_pack * kCount);
  float seen = 0; // of every column a row
  for (int base = begin; base < end; base += kAhead * kBandsOut) {
    KG_UNROLL
    for (int a = 0; a < kAhead; ++a, to += kBandsOut * width) {
      const int first = base + a * kBandsOut;
      if (first >= end) break;
      unsigned columns[kCount + 2][2];
      ring[a].loaded();
      ring[a].columns(columns, before, behind, is_first, is_last);
      if (first + kAhead * kBandsOut < end) load(ring[a]);

      float sum[kCount][4];
      KG_UNROLL
      for (int e = 0; e < kCount; ++e) {
        KG_UNROLL
        for (int s = 0; s < 4; ++s) sum[e][s] = added;
        KG_UNROLL
        for (int v = 0; v < kBandsKernel; ++v)
          ptx::mma_m16n8k16<T>(sum[e], bands[v], columns[e + v]);
        seen += sum[e][2];
        seen += sum[e][3];
      }
      KG_UNROLL
      for (int below = 0; below <= 8; below += 8) {
        if (group + below >= kBandsOut || first + group + below >= end) continue;
        KG_UNROLL
        for (int side = 0; side < 2; ++side) {
          if (to_pack + side * 4 >= d.packs) continue;
          Pack<T, kCount> result;
          KG_UNROLL
          for (int e = 0; e < kCount; ++e)
            result.element[e] = from_float<T>(sum[e][below / 4 + side]);
          store_wide(reinterpret_cast<Pack<T, kCount>*>(to + (below * width + side * 4 * kCount)),
                     result);
        }
      }
    }
  }
  const bool is_finite = fabsf(seen) <= std::numeric_limits<float>::max();
  if (__all_sync(kAllLanes, is_finite)) return;
  __syncwarp();
  const int columns_end = min((left + kBandsPacks) * kCount, width);
  for (int at = begin; at < end; ++at)
    for (int column = left * kCount + lane; column < columns_end; column += kLanes)
      y_plane[at * static_cast<std::int64_t>(width) + column] =
          from_float<T>(plain_window(x_plane, filter, d, at, column) + added);
}

} // namespace kg::conv2d
