// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies rows of any alignment. Packs are aligned to the destination: every store except a row's
// first and last is 16 bytes wide and aligned. If the source has the same alignment, so are the
// loads. Otherwise the 16 bytes come from the two aligned packs around them. The second load of a
// thread is the first load of its neighbour: an extra L1 request, but no extra memory traffic.
#pragma once

#include "primitives/pack.h"
#include "runtime/device.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>

namespace kg {

// 256 threads with kRowPacks packs in flight each: 64 KiB per multiprocessor with 4 blocks. An H200
// needs about 28 KiB (bandwidth / 132 multiprocessors x 800 ns latency).
inline constexpr int kRowThreads = 256;
inline constexpr int kRowBlocksPerSm = 4;
inline constexpr int kRowPacks = 4;
inline constexpr int kMostRows = kRowThreads / 2; // per block: two packs, one sector, side by side

using Quad = Pack<std::uint32_t, 4>;

// The number of elements from the previous multiple of kPackBytes to `pointer`.
template <class Word>
__host__ __device__ inline int words_past_boundary(const Word* pointer) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(pointer) % kPackBytes / sizeof(Word));
}

// The 16 bytes that start `bytes` (0 to 15) bytes into low and continue in high.
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

// The 16 bytes that start `skew` elements after `from`, which is a multiple of kPackBytes.
template <bool Shifted, class Word>
__device__ __forceinline__ Quad load_quad(const Word* from, int skew) {
  const auto* source = reinterpret_cast<const Quad*>(from);
  const Quad low = source[0];
  if constexpr (!Shifted) return low;
  const Quad high = source[1];
  return cut(low, high, skew * static_cast<int>(sizeof(Word)));
}

// Copies kRowPacks packs of a row of `cols` elements, `step` elements apart, starting at element
// `first`, which is negative for a pack that starts before the row. to + first must be a multiple
// of kPackBytes. Shifted: the source may have a different alignment.
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

// Copies `rows` rows of `cols` elements; at(row) returns source and destination. A grid-stride loop
// over tiles of blockDim.y rows by kRowPacks x blockDim.x packs.
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

// The division into tiles of block.y rows by kRowPacks x block.x packs.
struct RowTiles {
  dim3 block;
  std::int64_t across = 0; // tiles along a row
  std::int64_t down = 0;
};

// Tiles for `rows` rows of `cols` elements whose first pack starts up to `head` elements before the
// row. Tiles are not wider than rows, so that all loads of a thread are in flight together; the
// rest of a row is copied pack by pack.
template <class Word>
RowTiles row_tiles(std::int64_t rows, std::int64_t cols, int head) {
  const std::int64_t packs = div_up(cols + head, kPackElements<Word>);
  unsigned width = kRowThreads / kMostRows;
  while (width < kRowThreads && 2 * width * kRowPacks <= packs) width *= 2;
  const unsigned height = kRowThreads / width;
  return {{width, height}, div_up(packs, width * kRowPacks), div_up(rows, height)};
}

// The number of resident blocks, or of tiles if there are fewer.
inline dim3 row_grid(const RowTiles& tiles) {
  const DeviceProperties& device = device_properties();
  const std::int64_t resident = std::int64_t{device.sm_count} * kRowBlocksPerSm;
  const std::int64_t x = std::min(tiles.across, resident);
  const std::int64_t y =
      std::min({tiles.down, div_up(resident, x), std::int64_t{device.max_grid_yz}});
  return {static_cast<unsigned>(x), static_cast<unsigned>(y)};
}

} // namespace kg
