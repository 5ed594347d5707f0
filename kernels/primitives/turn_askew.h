// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turning matrices whose rows begin anywhere: every row at another distance from a sector, as where
// a row has an odd number of elements. Moved by single elements, as turn.h would, a transpose of
// 10007 x 9973 elements of 16 bits had 0.44 of a copy's rate (docs/h200.md): it issued as much as
// that rate lets it, and shared every third sector that it wrote with the next tile.
//
// So the borders of a tile follow those of sectors, row by row of the result: a tile is a
// parallelogram with ragged sides, and its neighbour has the same ragged side. Every sector is
// written whole, by accesses of 16 bytes, but for those at a matrix's own border. What a tile needs
// of the source are rows of whole words around its columns, and up to a sector's elements less one
// more of such rows than it is wide. They come by cp.async and lie in shared memory as they lay in
// the source, up to the distance from row to row; a thread takes the elements of a pack from so
// many rows. Only words inside of a row are read whole: nothing around the matrix is touched.
//
// What it takes of a multiprocessor (nvcc 13.0, 9.0a) is beside turn.h's figures in ASKEW_FIGURES.
//
// Banks: of one load of a warp, 8 lanes go along a row of the result and 4 lie in neighbouring
// rows, whose tiles begin at other distances. How many of them meet in a bank is a matter of both
// matrices' strides and of the pitch, which is chosen for that: 1.7 passes on average over all
// strides of 16-bit elements, 3 at worst, where 16 are possible.
#pragma once

#include "primitives/divisor.h"
#include "primitives/pack.h"
#include "primitives/turn.h"
#include "ptx/cp_async.h"
#include "runtime/device.h"
#include "runtime/device_code.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

namespace kg {

// Tiles of elements `Bits`: kA of them along rows of the source, kB along those of the result.
template <class Bits>
struct AskewTile {
  static constexpr int kElement = static_cast<int>(sizeof(Bits));
  static constexpr int kWord = std::max(kElement, 4); // bytes of a copy
  static constexpr int kInWord = kWord / kElement;
  static constexpr int kWords = 64;                         // of a row of the source
  static constexpr int kA = kWords * kInWord - kInWord + 1; // whatever part of a word is before
  static constexpr int kB = std::min(256 / kElement, 128);
  static constexpr int kSector = 32 / kElement;
  static constexpr int kRows = kB + kSector - 1;
  static constexpr int kLeastPitch = kWords * kInWord;
  static constexpr int kPlaces = kRows * (kLeastPitch + kSector);
  static constexpr int kThreads = 256;
};

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

  // A warp takes a row's words, and so many rows further on those of the next.
  constexpr int kRowsStep = Tile::kThreads / 32;
  static_assert(kRowsStep % K == 0, "a warp's rows all begin alike between two words");
  const auto load = [&](auto is_edge) {
    const int rows = Tile::kB + turns.most_skew;
    const auto inside = [&](std::int64_t row) {
      return static_cast<int>(row < 0 ? 0 : row > rows ? rows : row);
    };
    const int end = inside(turns.b - first_row);
    int row = inside(-first_row) + static_cast<int>(threadIdx.x) / 32;
    const int place = row * pitch + phase; // of element first_a
    const int past = place & (K - 1);
    const int first = static_cast<int>(threadIdx.x) % 32 * K - past;
    const Bits* from = x + (row * turns.x_stride + first);
    Bits* to = tile + (place + first);
    for (; row < end; row += kRowsStep) {
      KG_UNROLL
      for (int w = 0; w < Tile::kWords * K; w += 32 * K) {
        const std::int64_t a = first_a + first + w;
        if (!is_edge || (a >= 0 && a + K <= turns.a)) {
          ptx::cp_async_ca<Tile::kWord>(to + w, from + w);
        } else {
          for (int k = 0; k < K; ++k)
            if (a + k >= 0 && a + k < turns.a) to[w + k] = from[w + k];
        }
      }
      from += kRowsStep * turns.x_stride;
      to += kRowsStep * pitch;
    }
  };
  if (first_a >= K && first_a + Tile::kWords * K <= turns.a)
    load(std::false_type{});
  else
    load(std::true_type{});
  ptx::cp_async_wait_all();
  __syncthreads();

  // kAcross lanes have packs of one row of y, 128 bytes of it.
  const auto store = [&](auto is_edge) {
    constexpr int kAcross = 8;
    constexpr int kStep = Tile::kThreads / kAcross;
    const int across = static_cast<int>(threadIdx.x) % kAcross;
    const int first = static_cast<int>(threadIdx.x) / kAcross;
    const int end =
        is_edge && turns.a - first_a < Tile::kA ? static_cast<int>(turns.a - first_a) : Tile::kA;
    Bits* row = y + first * turns.y_stride;
    for (int a = first; a < end; a += kStep, row += kStep * turns.y_stride) {
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
  if (first_row >= 0 && first_b + Tile::kB <= turns.b && first_a + Tile::kA <= turns.a)
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
