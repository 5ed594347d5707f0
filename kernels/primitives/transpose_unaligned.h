// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposes matrices whose rows begin at different offsets within a sector, for example with an
// odd number of elements per row. Moved as single elements by transpose_tile.h, a transpose of
// 10007 x 9973 16-bit elements reached 0.44 of copy bandwidth. It was limited by issue slots, and
// shared two of every three written sectors with other tiles.
//
// Here the borders of a tile follow the sector borders in each row of the result, so the ragged
// sides of adjacent tiles fit together. Every sector is written completely with 16-byte accesses,
// except at the border of a matrix. A tile therefore needs a few more rows of the source than its
// width, fewer than the elements of a sector. cp.async loads them word by word into shared memory,
// in the layout of the source except for the pitch. A thread gathers a pack from as many rows as it
// has elements. Words that cross the end of a row are moved by elements, so nothing around it is
// touched.
//
// Per multiprocessor (nvcc 13.0, 9.0a): a warp issues 75 instructions per KiB of 16-bit elements
// and 75 to 105 for others; copy bandwidth leaves time for 249 (single elements: 243 for 16 bits,
// 446 for 8 bits). Blocks with 110 to 180 KiB are resident. In 16 bits the kernel requests 1.26
// times the source's sectors; those shared by tiles hit L2.
//
// Bank conflicts: in a warp's load, 8 lanes read along each of 4 adjacent rows of the result, whose
// tiles begin at different offsets. The conflicts depend on both strides and on the pitch, which is
// chosen to minimize them: 1.7 wavefronts on average over all strides of 16-bit elements, and 3 at
// worst, where 16 are possible.
#pragma once

#include "instructions/cp_async.h"
#include "primitives/divisor.h"
#include "primitives/pack.h"
#include "primitives/transpose_tile.h"
#include "primitives/unaligned_tile.h"
#include "runtime/device.h"
#include "runtime/device_code.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

namespace kg {

struct UnalignedTransposeBatch : TransposeBatch {
  std::int64_t a = 0, b = 0; // extents
  int pitch = 0;             // elements between rows in shared memory
  int most_skew = 0;         // the most elements between a sector border and a row of y
};

// Transposes the tile of this block: y[a][b] = x[b][a] in every matrix of the batch.
template <class Bits>
__device__ inline void transpose_unaligned(const Bits* __restrict__ x, Bits* __restrict__ y,
                                           const UnalignedTransposeBatch& batch) {
  using Tile = UnalignedTile<Bits>;
  constexpr int K = Tile::kInWord;
  constexpr int P = kPackElements<Bits>;
  alignas(Tile::kWord) __shared__ Bits tile[Tile::kPlaces];
  const auto elements_past = [](const Bits* pointer, int bytes) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(pointer) %
                            static_cast<unsigned>(bytes) / sizeof(Bits));
  };

  std::uint32_t left = blockIdx.x;
  const std::int64_t first_a = std::int64_t{batch.tiles_a.take_last(left)} * Tile::kA;
  const std::int64_t first_b = std::int64_t{batch.tiles_b.take_last(left)} * Tile::kB;
  go_to_matrix(batch, left, x, y);
  const std::int64_t first_row = first_b - batch.most_skew; // of x; may be negative
  x += first_row * batch.x_stride + first_a;
  y += first_a * batch.y_stride + first_b;
  const int phase = elements_past(x, Tile::kWord);
  const int pitch = batch.pitch;

  const auto row_inside = [&](std::int64_t row) {
    const int rows = Tile::kB + batch.most_skew;
    return static_cast<int>(row < 0 ? 0 : row > rows ? rows : row);
  };
  const int begin = row_inside(-first_row), end = row_inside(batch.b - first_row);
  const std::int64_t left_a = batch.a - first_a;

  // A warp loads the words of a row, then those of the row kRowsStep below.
  constexpr int kRowsStep = Tile::kThreads / 32;
  static_assert(kRowsStep % K == 0, "all rows of a warp have the same offset within a word");
  const auto load = [&](auto is_edge) {
    int row = begin + static_cast<int>(threadIdx.x) / 32;
    const int place = row * pitch + phase; // of element first_a
    const int first = static_cast<int>(threadIdx.x) % 32 * K - (place & (K - 1));
    const Bits* from = x + (row * batch.x_stride + first);
    Bits* to = tile + (place + first);
    for (; row < end; row += kRowsStep) {
      KG_UNROLL
      for (int w = 0; w < Tile::kWords * K; w += 32 * K)
        if (!is_edge || (first_a + first + w >= 0 && first + w + K <= left_a))
          ptx::cp_async_ca<Tile::kWord>(to + w, from + w);
      from += kRowsStep * batch.x_stride;
      to += kRowsStep * pitch;
    }
  };
  // One thread per row loads the partial words at its ends.
  const auto load_ends = [&] {
    const int row = begin + static_cast<int>(threadIdx.x);
    if (row >= end) return;
    const int past = (row * pitch + phase) & (K - 1);
    const Bits* from = x + (row * batch.x_stride - past);
    Bits* to = tile + (row * pitch + phase - past);
    const int reach = left_a + past < Tile::kWords * K ? static_cast<int>(left_a) + past : 0;
    if (first_a == 0 && past > 0)
      for (int i = past; i < K; ++i) to[i] = from[i];
    for (int i = reach & -K; i < reach; ++i) to[i] = from[i];
  };
  if (first_a > 0 && left_a >= Tile::kWords * K) {
    load(std::false_type{});
  } else {
    load(std::true_type{});
    load_ends();
  }
  ptx::cp_async_wait_all();
  __syncthreads();

  // kAcross lanes store packs of one row of y, 128 bytes.
  const auto store = [&](auto is_edge) {
    constexpr int kAcross = 8;
    constexpr int kStep = Tile::kThreads / kAcross;
    const int across = static_cast<int>(threadIdx.x) % kAcross;
    const int first = static_cast<int>(threadIdx.x) / kAcross;
    const int end_a = is_edge && left_a < Tile::kA ? static_cast<int>(left_a) : Tile::kA;
    Bits* row = y + first * batch.y_stride;
    for (int a = first; a < end_a; a += kStep, row += kStep * batch.y_stride) {
      const int skew = elements_past(row, 32);
      KG_UNROLL
      for (int pack = 0; pack < Tile::kB; pack += kAcross * P) {
        const int b = pack + across * P - skew;
        const Bits* from = tile + ((b + batch.most_skew) * pitch + phase + a);
        if (!is_edge || (first_b + b >= 0 && first_b + b + P <= batch.b)) {
          Pack<Bits, P> transposed;
          KG_UNROLL
          for (int k = 0; k < P; ++k) transposed.element[k] = from[k * pitch];
          store_wide(reinterpret_cast<Pack<Bits, P>*>(row + b), transposed);
        } else {
          for (int k = 0; k < P; ++k)
            if (first_b + b + k >= 0 && first_b + b + k < batch.b) row[b + k] = from[k * pitch];
        }
      }
    }
  };
  if (first_row >= 0 && first_b + Tile::kB <= batch.b && left_a >= Tile::kA)
    store(std::false_type{});
  else
    store(std::true_type{});
}

// The largest number of lanes of a warp that access one bank for the first elements of their packs.
template <class Bits>
int lanes_in_a_bank(int pitch, std::int64_t y_stride) {
  using Tile = UnalignedTile<Bits>;
  int lanes[128 / Tile::kWord] = {};
  int most = 0;
  for (int a = 0; a < 4; ++a) {
    const int skew = static_cast<int>(a * y_stride % Tile::kSector);
    for (int across = 0; across < 8; ++across) {
      const int place = (across * kPackElements<Bits> + Tile::kSector - skew) * pitch + a;
      most = std::max(most, ++lanes[place / Tile::kInWord % (128 / Tile::kWord)]);
    }
  }
  return most;
}

// The number of tiles of `matrices` matrices of a by b elements; completes `batch`. 0 if
// transpose_tile.h is better: all rows begin at packs, tiles of this size would be less than half
// full, or there are fewer than two per multiprocessor (one loads while the other stores). x and y:
// the first matrix of the batch; steps of the batch must be multiples of rows.
template <class Bits>
std::int64_t unaligned_tiles(const Bits* x, const Bits* y, std::int64_t a, std::int64_t b,
                             std::int64_t matrices, UnalignedTransposeBatch& batch) {
  using Tile = UnalignedTile<Bits>;
  if (can_transpose_by<kPackBytes>(x, y, a, b, batch) || a < Tile::kA / 2 || b < Tile::kB / 2)
    return 0;
  const bool at_sectors = reinterpret_cast<std::uintptr_t>(y) % 32 == 0 &&
                          batch.y_stride % Tile::kSector == 0 && b % Tile::kSector == 0;
  batch.most_skew = at_sectors ? 0 : Tile::kSector - 1;
  const std::int64_t across = div_up(a, std::int64_t{Tile::kA});
  const std::int64_t along = div_up(b + batch.most_skew, std::int64_t{Tile::kB});
  if (matrices * across * along < 2 * device_properties().sm_count) return 0;
  batch.a = a;
  batch.b = b;
  batch.tiles_a = NarrowDivisor(across);
  batch.tiles_b = NarrowDivisor(along);
  // Words of a row are aligned in shared memory if the pitch differs from x's stride by whole
  // words.
  const int least = Tile::kLeastPitch + static_cast<int>(batch.x_stride % Tile::kInWord);
  batch.pitch = least;
  for (int pitch = least; pitch < Tile::kLeastPitch + Tile::kSector; pitch += Tile::kInWord)
    if (lanes_in_a_bank<Bits>(pitch, batch.y_stride) <
        lanes_in_a_bank<Bits>(batch.pitch, batch.y_stride))
      batch.pitch = pitch;
  return matrices * across * along;
}

} // namespace kg
