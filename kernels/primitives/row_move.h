// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows that move as they are, whatever their alignment. Packs are those of the destination: every
// store but a row's first and last is 16 bytes wide and aligned. Where the source is aligned alike,
// so is every load. Where it is not, the 16 bytes come from the two aligned packs around them: the
// second load of a thread is the first one of its neighbour, and costs the first-level cache a
// second request but memory nothing.
#pragma once

#include "primitives/pack.h"
#include "runtime/device.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>

namespace kg {

// 256 threads with kRowPacks packs under way each; with 4 blocks on a multiprocessor 64 KiB, and an
// H200 needs about 28 KiB (its rate, divided by 132 multiprocessors, times a latency of 800 ns).
inline constexpr int kRowThreads = 256;
inline constexpr int kRowBlocksPerSm = 4;
inline constexpr int kRowPacks = 4;
inline constexpr int kMostRows = kRowThreads / 2; // of a block: two packs, a sector, side by side

using Quad = Pack<std::uint32_t, 4>;

// Elements from the last multiple of kPackBytes to `pointer`.
template <class Word>
__host__ __device__ inline int words_past_boundary(const Word* pointer) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(pointer) % kPackBytes / sizeof(Word));
}

// The 16 bytes that begin `bytes` bytes into low, 0 to 15, and end in high.
__device__ __forceinline__ Quad cut(Quad low, Quad high, int bytes) {
  std::uint32_t word[8];
  KG_UNROLL
  for (int i = 0; i < 4; ++i) {
    word[i] = low.element[i];
    word[i + 4] = high.element[i];
  }
  KG_UNROLL
  for (int i = 0; i < 6; ++i) word[i] = (bytes & 8) != 0 ? word[i + 2] : word[i];
  KG_UNROLL
  for (int i = 0; i < 5; ++i) word[i] = (bytes & 4) != 0 ? word[i + 1] : word[i];
  Quad result;
  KG_UNROLL
  for (int i = 0; i < 4; ++i)
    result.element[i] = __funnelshift_r(word[i], word[i + 1], 8 * (bytes & 3));
  return result;
}

// The 16 bytes that begin `skew` elements behind `from`, a multiple of kPackBytes.
template <bool Shifted, class Word>
__device__ __forceinline__ Quad load_quad(const Word* from, int skew) {
  const auto* source = reinterpret_cast<const Quad*>(from);
  const Quad low = source[0];
  if constexpr (!Shifted) return low;
  const Quad high = source[1];
  return cut(low, high, skew * static_cast<int>(sizeof(Word)));
}

// Moves kRowPacks packs of a row of `cols` elements: the first begins at element `first`, the
// others `step` elements further on each. `first` is negative in a pack that begins before the row;
// to + first is a multiple of kPackBytes. Shifted: the source may be aligned otherwise.
template <bool Shifted, class Word>
__device__ inline void move_packs(const Word* from, Word* to, std::int64_t cols, std::int64_t first,
                                  std::int64_t step) {
  constexpr int kCount = kPackElements<Word>;
  constexpr int kReach = Shifted ? 2 * kCount : kCount; // elements that one pack's loads touch
  const int skew =
      Shifted ? static_cast<int>((words_past_boundary(from) + first) & (kCount - 1)) : 0;
  const auto inside = [&](std::int64_t place) {
    return place - skew >= 0 && place - skew + kReach <= cols;
  };
  if (inside(first) && inside(first + (kRowPacks - 1) * step)) {
    Quad pack[kRowPacks];
    KG_UNROLL
    for (int p = 0; p < kRowPacks; ++p)
      pack[p] = load_quad<Shifted>(from + (first + p * step - skew), skew);
    KG_UNROLL
    for (int p = 0; p < kRowPacks; ++p)
      store_wide(reinterpret_cast<Quad*>(to + (first + p * step)), pack[p]);
    return;
  }
  for (int p = 0; p < kRowPacks; ++p) { // at an end of the row
    const std::int64_t place = first + p * step;
    if (inside(place)) {
      const Quad quad = load_quad<Shifted>(from + (place - skew), skew);
      store_wide(reinterpret_cast<Quad*>(to + place), quad);
    } else {
      const std::int64_t end = place + kCount < cols ? place + kCount : cols;
      for (std::int64_t i = place < 0 ? 0 : place; i < end; ++i) to[i] = from[i];
    }
  }
}

template <class Word>
struct RowEnds {
  const Word* from;
  Word* to;
};

// Moves `rows` rows of `cols` elements; at(row) says where. Blocks take tiles of blockDim.y rows by
// kRowPacks x blockDim.x packs, one grid after the other.
template <bool Shifted, class Word, class At>
__device__ inline void move_rows(std::int64_t rows, std::int64_t cols, std::int64_t tiles_across,
                                 At at) {
  constexpr int kCount = kPackElements<Word>;
  const auto width = static_cast<std::int64_t>(blockDim.x) * kCount;
  const std::int64_t rows_step = static_cast<std::int64_t>(gridDim.y) * blockDim.y;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
       row < rows; row += rows_step) {
    const RowEnds<Word> ends = at(row);
    const std::int64_t first =
        static_cast<std::int64_t>(threadIdx.x) * kCount - words_past_boundary(ends.to);
    for (std::int64_t tile = blockIdx.x; tile < tiles_across; tile += gridDim.x)
      move_packs<Shifted>(ends.from, ends.to, cols, first + tile * kRowPacks * width, width);
  }
}

// How blocks share rows out: a tile is block.y rows by kRowPacks x block.x packs.
struct RowTiles {
  dim3 block;
  std::int64_t across = 0; // tiles along a row
  std::int64_t down = 0;
};

// Of `rows` rows of `cols` elements whose first pack has up to `head` elements before the row.
// Tiles are no wider than rows, so that the loads of a thread are under way together; what is left
// of a row moves pack by pack.
template <class Word>
RowTiles row_tiles(std::int64_t rows, std::int64_t cols, int head) {
  const std::int64_t packs = div_up(cols + head, kPackElements<Word>);
  unsigned width = kRowThreads / kMostRows;
  while (width < kRowThreads && 2 * width * kRowPacks <= packs) width *= 2;
  const unsigned height = kRowThreads / width;
  return {{width, height}, div_up(packs, width * kRowPacks), div_up(rows, height)};
}

// All blocks that are resident at once, or as many as there are tiles.
inline dim3 row_grid(const RowTiles& tiles) {
  const DeviceProperties& device = device_properties();
  const std::int64_t resident = std::int64_t{device.sm_count} * kRowBlocksPerSm;
  const std::int64_t x = std::min(tiles.across, resident);
  const std::int64_t y =
      std::min({tiles.down, div_up(resident, x), std::int64_t{device.max_grid_yz}});
  return {static_cast<unsigned>(x), static_cast<unsigned>(y)};
}

} // namespace kg
