// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turning matrices whose rows begin anywhere, each at another distance from a sector, as where a
// row has an odd number of elements. Moved by single elements, as turn.h would, a transpose of
// 10007 x 9973 elements of 16 bits had 0.44 of a copy's rate: it issued for as long
// as a copy takes, and of every three sectors that it wrote two were shared with other tiles.
//
// So the borders of a tile follow those of sectors, row by row of the result: the tile is ragged on
// both sides, and its neighbour's side is ragged alike. Every sector is written whole, by accesses
// of 16 bytes, but for those across a matrix's own border. Of the source a tile needs a few rows
// more than it is wide, less than a sector has elements. They come by words and by cp.async, and
// lie in shared memory as they do in the source but for the pitch; a thread takes the elements of a
// pack from as many of them. What a row has in words across its ends moves by elements: nothing
// around it is touched.
//
// What it takes of a multiprocessor (nvcc 13.0, 9.0a, counted as in turn.h): a warp issues 75
// instructions for each KiB that it moves of 16 bits, 75 to 105 of other elements, of the 249 that
// there is time for (single elements of 16 bits: 243, of 8 bits: 446), and blocks of 110 to 180 KiB
// are resident. It reads 1.26 times the sectors of the source in 16 bits, which memory sees once:
// those that tiles share are in L2.
//
// Banks: of a warp's load 8 lanes go along a row of the result and 4 lie in neighbouring rows,
// whose tiles begin elsewhere. How many meet in a bank is a matter of both strides and of the
// pitch, which is chosen for it: 1.7 passes on average over all strides of 16-bit elements, and 3
// at worst, where 16 are possible.
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

struct AskewTurns : Turns {
  std::int64_t a = 0, b = 0; // extents
  int pitch = 0;             // elements from row to row in shared memory
  int most_skew = 0;         // of a row of y: its elements behind the sector that it begins in
};

// The tile of this block: y[a][b] = x[b][a] in every matrix of the batch.
template <class Bits>
__device__ inline void turn_askew(const Bits* __restrict__ x, Bits* __restrict__ y,
                                  const AskewTurns& turns) {
  using Tile = AskewTile<Bits>;
  constexpr int K = Tile::kInWord;
  constexpr int P = kPackElements<Bits>;
  alignas(Tile::kWord) __shared__ Bits tile[Tile::kPlaces];
  const auto elements_past = [](const Bits* pointer, int bytes) {
    return static_cast<int>(reinterpret_cast<std::uintptr_t>(pointer) %
                            static_cast<unsigned>(bytes) / sizeof(Bits));
  };

  std::uint32_t left = blockIdx.x;
  const std::int64_t first_a = std::int64_t{turns.tiles_a.take_last(left)} * Tile::kA;
  const std::int64_t first_b = std::int64_t{turns.tiles_b.take_last(left)} * Tile::kB;
  go_to_matrix(turns, left, x, y);
  const std::int64_t first_row = first_b - turns.most_skew; // of x, maybe before the first one
  x += first_row * turns.x_stride + first_a;
  y += first_a * turns.y_stride + first_b;
  const int phase = elements_past(x, Tile::kWord);
  const int pitch = turns.pitch;

  const auto row_inside = [&](std::int64_t row) {
    const int rows = Tile::kB + turns.most_skew;
    return static_cast<int>(row < 0 ? 0 : row > rows ? rows : row);
  };
  const int begin = row_inside(-first_row), end = row_inside(turns.b - first_row);
  const std::int64_t left_a = turns.a - first_a;

  // A warp takes a row's words, and so many rows further on those of the next.
  constexpr int kRowsStep = Tile::kThreads / 32;
  static_assert(kRowsStep % K == 0, "a warp's rows all begin alike between two words");
  const auto load = [&](auto is_edge) {
    int row = begin + static_cast<int>(threadIdx.x) / 32;
    const int place = row * pitch + phase; // of element first_a
    const int first = static_cast<int>(threadIdx.x) % 32 * K - (place & (K - 1));
    const Bits* from = x + (row * turns.x_stride + first);
    Bits* to = tile + (place + first);
    for (; row < end; row += kRowsStep) {
      KG_UNROLL
      for (int w = 0; w < Tile::kWords * K; w += 32 * K)
        if (!is_edge || (first_a + first + w >= 0 && first + w + K <= left_a))
          ptx::cp_async_ca<Tile::kWord>(to + w, from + w);
      from += kRowsStep * turns.x_stride;
      to += kRowsStep * pitch;
    }
  };
  // A thread takes what a row has in words across its ends.
  const auto load_ends = [&] {
    const int row = begin + static_cast<int>(threadIdx.x);
    if (row >= end) return;
    const int past = (row * pitch + phase) & (K - 1);
    const Bits* from = x + (row * turns.x_stride - past);
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

  // kAcross lanes have packs of one row of y, 128 bytes of it.
  const auto store = [&](auto is_edge) {
    constexpr int kAcross = 8;
    constexpr int kStep = Tile::kThreads / kAcross;
    const int across = static_cast<int>(threadIdx.x) % kAcross;
    const int first = static_cast<int>(threadIdx.x) / kAcross;
    const int end_a = is_edge && left_a < Tile::kA ? static_cast<int>(left_a) : Tile::kA;
    Bits* row = y + first * turns.y_stride;
    for (int a = first; a < end_a; a += kStep, row += kStep * turns.y_stride) {
      const int skew = elements_past(row, 32);
      KG_UNROLL
      for (int pack = 0; pack < Tile::kB; pack += kAcross * P) {
        const int b = pack + across * P - skew;
        const Bits* from = tile + ((b + turns.most_skew) * pitch + phase + a);
        if (!is_edge || (first_b + b >= 0 && first_b + b + P <= turns.b)) {
          Pack<Bits, P> turned;
          KG_UNROLL
          for (int k = 0; k < P; ++k) turned.element[k] = from[k * pitch];
          store_wide(reinterpret_cast<Pack<Bits, P>*>(row + b), turned);
        } else {
          for (int k = 0; k < P; ++k)
            if (first_b + b + k >= 0 && first_b + b + k < turns.b) row[b + k] = from[k * pitch];
        }
      }
    }
  };
  if (first_row >= 0 && first_b + Tile::kB <= turns.b && left_a >= Tile::kA)
    store(std::false_type{});
  else
    store(std::true_type{});
}

// Lanes of a warp that meet in a bank where they take the first elements of their packs.
template <class Bits>
int lanes_in_a_bank(int pitch, std::int64_t y_stride) {
  using Tile = AskewTile<Bits>;
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

// The tiles of as many matrices of a by b elements, with `turns` completed; or 0 where turn.h's are
// better: where all rows begin at packs, or where tiles of this size would not be half full or not
// two for each multiprocessor, of which one can load while the other stores. x and y are the first
// of the batch, whose steps are multiples of their rows.
template <class Bits>
std::int64_t askew_tiles(const Bits* x, const Bits* y, std::int64_t a, std::int64_t b,
                         std::int64_t matrices, AskewTurns& turns) {
  using Tile = AskewTile<Bits>;
  if (turns_by<kPackBytes>(x, y, a, b, turns) || a < Tile::kA / 2 || b < Tile::kB / 2) return 0;
  const bool at_sectors = reinterpret_cast<std::uintptr_t>(y) % 32 == 0 &&
                          turns.y_stride % Tile::kSector == 0 && b % Tile::kSector == 0;
  turns.most_skew = at_sectors ? 0 : Tile::kSector - 1;
  const std::int64_t across = div_up(a, std::int64_t{Tile::kA});
  const std::int64_t along = div_up(b + turns.most_skew, std::int64_t{Tile::kB});
  if (matrices * across * along < 2 * device_properties().sm_count) return 0;
  turns.a = a;
  turns.b = b;
  turns.tiles_a = NarrowDivisor(across);
  turns.tiles_b = NarrowDivisor(along);
  // A row's words are words in shared memory, too, if the pitch differs from x's stride by words.
  const int least = Tile::kLeastPitch + static_cast<int>(turns.x_stride % Tile::kInWord);
  turns.pitch = least;
  for (int pitch = least; pitch < Tile::kLeastPitch + Tile::kSector; pitch += Tile::kInWord)
    if (lanes_in_a_bank<Bits>(pitch, turns.y_stride) <
        lanes_in_a_bank<Bits>(turns.pitch, turns.y_stride))
      turns.pitch = pitch;
  return matrices * across * along;
}

} // namespace kg
