// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant depthwise on Tensor Cores, for nchw, 3x3 kernels of stride 1, f16 and bf16, one
// output per channel. Rows of x and y have the same number of whole 16-byte vectors.
//
// A column of taps forms a band matrix: element (m, k) is tap k - m. Its product with 16 rows of x
// is this column's contribution to 14 rows of y. Three products, with x shifted by one column to
// the left, unshifted, and shifted to the right, make the convolution: 24 MMAs for 14 rows of 64
// positions, instead of 252 multiply-adds. A lane holds one vector of each of 4 rows as MMA operand
// b (mma.h); a column of the matrix takes two registers. A shift by one position selects the
// previous register, and only elements beside the vector come from other lanes.
//
// Bytes: x and y once; 2 of 16 rows of a tile are read again from L1 or L2. A warp moves down its
// plane with the next two tiles (3.5 KiB) in flight while it multiplies; one tile if rows have
// several tiles. Warp instructions per 32 vectors of y (sm_90a, planes of 56 x 56): 61, plus 20 at
// the start of a plane. depthwise_rows.h needs 155, and an H200 issues 252 while it copies the same
// bytes.
//
// Tensor Cores also multiply the zeros around the bands, and 0 times a non-finite element is NaN in
// every row of the column. So one row of each column is checked; if it is not finite, the warp
// recomputes all of its outputs without Tensor Cores.
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
inline constexpr int kBandsIn = 16; // rows of x per tile
inline constexpr int kBandsOut = kBandsIn - kBandsKernel + 1;
inline constexpr int kBandsPacks = 8; // per row of a tile

// Launch parameters. Warps are numbered along the parts of a column of tiles, then columns, then
// planes of y.
struct DepthwiseBands {
  window::Line vertical, horizontal;
  int packs; // per row
  int tiles; // consecutive tiles in a column, per warp
  NarrowDivisor parts, across, channels;
  unsigned warps;
};

// A lane's registers of a tile: one vector of each of rows 4 q to 4 q + 3, where q is the lane's
// number in its quad. If a row has several tiles, also the elements beside the tile's first and
// last vectors.
template <class T, bool kSeveral>
class BandsRows {
  static constexpr int kRows = 4;
  static constexpr int kCount = kPackElements<T>;
  using Words = unsigned[kCount / 2];

 public:
  // from: the vector in the first row, which is row `row` of `rows`.
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

  // columns[1 + c]: column c of the vector, from the preceding to the following column, which lanes
  // `before` and `behind` hold. Two rows per register.
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

  // Packs two elements into a register, the lower half first.
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

// Computes one output without Tensor Cores.
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

  // Column n of the product is vector n / 2 of the tile's first half (even n) or second half (odd
  // n). A lane thus holds the same vector of both halves in the result.
  const int across = group / 2 + group % 2 * 4;
  const auto lane_of = [&](int pack) __attribute__((always_inline)) {
    return (pack % 4 * 2 + pack / 4 % 2) * 4 + quarter;
  };
  const int before = lane_of(across + kBandsPacks - 1), behind = lane_of(across + 1);
  const bool is_first = across == 0, is_last = across == kBandsPacks - 1;
  const int pack = left + across;
  const bool has_beside = is_first ? left > 0 : is_last && pack + 1 < d.packs;
  int row = begin - d.vertical.before + 4 * quarter; // row of x to load next
  const T* from = x_plane + (row * static_cast<std::int64_t>(width) + pack * kCount);
  const auto load = [&](Rows & rows) __attribute__((always_inline)) {
    rows.load(from, row, d.vertical.in, width, pack < d.packs, is_first ? -1 : kCount, has_beside);
    row += kBandsOut;
    from += kBandsOut * width;
  };
  constexpr int kAhead = kSeveral ? 1 : 2;
  Rows ring[kAhead];
  KG_UNROLL
  for (int a = 0; a < kAhead; ++a) load(ring[a]); // rows past the last are outside x

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

  const int to_pack = left + quarter; // and the vector 4 further
  T* to = y_plane + ((begin + group) * static_cast<std::int64_t>(width) + to_pack * kCount);
  float seen = 0; // one row of each column
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
