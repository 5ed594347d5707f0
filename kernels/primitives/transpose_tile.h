// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turning matrices through shared memory, both sides coalesced: b runs along rows of the result, a
// along rows of the source. A pack is what one access moves: 16 bytes where rows begin at multiples
// of 16 bytes and are that long, else a word of several small elements, else an element. A thread
// loads units of P packs, the P elements of a pack from each of P rows, and turns them in its
// registers, so that what lies in shared memory are packs of the result: it is written and read by
// whole packs, too.
//
// Sides: a tile has 256 bytes along both where packs have 16 and the matrix is that wide. Rows of
// 256 bytes suit memory better than rows of 128 (2.92 ms against 3.10, perf/code/timing_model:
// yencal's Vec4_T64 and Vec4 on an H100). What it takes of a multiprocessor (nvcc 13.0, 9.0a): a
// warp issues 36 to 53 instructions for each KiB that it moves by 16 bytes and 120 to 140 by 4,
// where a copy's rate leaves it time for 249; and 48 to 128 KiB are under way, of the 29 that this
// rate takes.
//
// Banks: packs of the turned tile lie in the order of the result, but for the lowest bits of their
// number, which are mixed (exclusive or) with bits of a. So the lanes that the banks serve at once
// (8 of 16 bytes, 32 of 4) meet different banks where they store a column, of whatever width, and
// where they load a row: neighbours there differ in the lowest bits alone.
#pragma once

#include "instructions/store_shared.h"
#include "primitives/divisor.h"
#include "primitives/pack.h"
#include "runtime/device.h"
#include "runtime/device_code.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>

namespace kg {

inline constexpr int kTurnBatchRank = 3;

// Elements of `Bits`, `Bytes` of them to an access.
template <class Bits, int Bytes>
struct TurnPacks {
  static constexpr bool kIsWords = sizeof(Bits) < 4 && Bytes >= 4;
  using Word = std::conditional_t<kIsWords, std::uint32_t, Bits>;
  static constexpr int kInWord = static_cast<int>(sizeof(Word) / sizeof(Bits));
  static constexpr int kWords = Bytes / static_cast<int>(sizeof(Word));
  using Whole = Pack<Word, kWords>;

  static constexpr int kSide = kInWord * kWords; // P: elements of a pack, packs of a unit
  static constexpr int kLogSide = std::bit_width(static_cast<unsigned>(kSide)) - 1;
  // A thread has 64 bytes under way, or 8 packs where they are narrower; a tile fits 32 KiB.
  static constexpr int kUnits = std::max((Bytes == kPackBytes ? 4 : 8) / kSide, 1);
  static constexpr int kThreads = kSide == 16 ? 128 : 256;
  static constexpr int kPacks = kThreads * kUnits * kSide;
};

// A batch of matrices. Strides are in elements, from row to row: along b in x, along a in y.
struct Turns {
  std::int64_t x_stride = 0, y_stride = 0;
  int batch_rank = 0;
  NarrowDivisor extent[kTurnBatchRank];
  std::int64_t x_step[kTurnBatchRank] = {};
  std::int64_t y_step[kTurnBatchRank] = {};

  // Set by turn_shape. Tiles are 2^log_a by 2^log_b units.
  std::int64_t a_units = 0, b_units = 0;
  NarrowDivisor tiles_a, tiles_b;
  int log_a = 0, log_b = 0;
  int mixed_to = 0; // the bit of a pack's number that the lowest one of its a is mixed with
};

// Sets both on the first elements of matrix number `left` of the batch.
template <class Bits>
__device__ __forceinline__ void go_to_matrix(const Turns& turns, std::uint32_t left,
                                             const Bits* __restrict__& x, Bits* __restrict__& y) {
  KG_UNROLL
  for (int d = kTurnBatchRank - 1; d >= 0; --d) {
    if (d >= turns.batch_rank) continue;
    const std::int64_t index = turns.extent[d].take_last(left);
    x += index * turns.x_step[d];
    y += index * turns.y_step[d];
  }
}

// Word j of each of kInWord rows becomes their words j.
template <int K, class Word>
__device__ inline void turn_words(Word (&word)[K]) {
  if constexpr (K == 2) {
    const Word low = __byte_perm(word[0], word[1], 0x5410);
    word[1] = __byte_perm(word[0], word[1], 0x7632);
    word[0] = low;
  } else if constexpr (K == 4) {
    const Word low01 = __byte_perm(word[0], word[1], 0x5140);
    const Word low23 = __byte_perm(word[2], word[3], 0x5140);
    const Word high01 = __byte_perm(word[0], word[1], 0x7362);
    const Word high23 = __byte_perm(word[2], word[3], 0x7362);
    word[0] = __byte_perm(low01, low23, 0x5410);
    word[1] = __byte_perm(low01, low23, 0x7632);
    word[2] = __byte_perm(high01, high23, 0x5410);
    word[3] = __byte_perm(high01, high23, 0x7632);
  }
}

// Packs of P rows become packs of P columns. Words that only change places cost nothing.
template <class Packs>
__device__ __forceinline__ void turn_unit(const typename Packs::Whole (&row)[Packs::kSide],
                                          typename Packs::Whole (&column)[Packs::kSide]) {
  constexpr int K = Packs::kInWord;
  KG_UNROLL
  for (int j = 0; j < Packs::kWords; ++j) {
    KG_UNROLL
    for (int m = 0; m < Packs::kWords; ++m) {
      typename Packs::Word word[K];
      KG_UNROLL
      for (int k = 0; k < K; ++k) word[k] = row[m * K + k].element[j];
      turn_words(word);
      KG_UNROLL
      for (int k = 0; k < K; ++k) column[j * K + k].element[m] = word[k];
    }
  }
}

// The tile of this block: y[a][b] = x[b][a] in every matrix of the batch. A thread loads units of
// one a, and stores packs of one b: from one to the next it only adds.
template <class Bits, int Bytes>
__device__ inline void turn_tile(const Bits* __restrict__ x, Bits* __restrict__ y,
                                 const Turns& turns) {
  using Packs = TurnPacks<Bits, Bytes>;
  using Whole = typename Packs::Whole;
  constexpr int P = Packs::kSide;
  constexpr int kUnits = Packs::kUnits;
  constexpr int kBankMask = 128 / Bytes - 1; // of the packs that lie in different banks
  __shared__ Whole tile[Packs::kPacks];
  const auto mixed = [&turns](int a) { return (a << turns.mixed_to) & kBankMask; };

  std::uint32_t left = blockIdx.x;
  const std::int64_t first_a = static_cast<std::int64_t>(turns.tiles_a.take_last(left))
                               << turns.log_a;
  const std::int64_t first_b = static_cast<std::int64_t>(turns.tiles_b.take_last(left))
                               << turns.log_b;
  go_to_matrix(turns, left, x, y);
  const auto units_left = [](std::int64_t left, int log) {
    return left >> log > 0 ? 1 << log : static_cast<int>(left);
  };
  const int a_units = units_left(turns.a_units - first_a, turns.log_a);
  const int b_units = units_left(turns.b_units - first_b, turns.log_b);
  x += first_b * P * turns.x_stride + first_a * P;
  y += first_a * P * turns.y_stride + first_b * P;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);

  const auto turn = [&](auto is_edge) {
    const int a = thread & ((1 << turns.log_a) - 1);
    const int first_b_unit = thread >> turns.log_a;
    const int units_step = threads >> turns.log_a;
    const Bits* from = x + (first_b_unit * P * turns.x_stride + a * P);
    Whole unit[kUnits][P] = {};
    const auto is_inside = [&](int u) {
      return !is_edge || (a < a_units && first_b_unit + u * units_step < b_units);
    };
    KG_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      const Bits* row = from;
      if (is_inside(u)) {
        KG_UNROLL
        for (int k = 0; k < P; ++k) {
          unit[u][k] = *reinterpret_cast<const Whole*>(row);
          row += turns.x_stride;
        }
      }
      from += units_step * P * turns.x_stride;
    }
    KG_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      if (!is_inside(u)) continue;
      Whole column[P];
      turn_unit<Packs>(unit[u], column);
      KG_UNROLL
      for (int k = 0; k < P; ++k) {
        const int pack = ((a * P + k) << turns.log_b) + first_b_unit + u * units_step;
        if constexpr (Bytes >= 8)
          ptx::store_shared(tile + (pack ^ mixed(a)), column[k]);
        else
          tile[pack ^ mixed(a)] = column[k];
      }
    }
    __syncthreads();
    const int b = thread & ((1 << turns.log_b) - 1);
    const int first_row = thread >> turns.log_b;
    const int rows_step = threads >> turns.log_b;
    Bits* to = y + (first_row * turns.y_stride + b * P);
    KG_UNROLL
    for (int p = 0; p < kUnits * P; ++p) {
      const int row = first_row + p * rows_step;
      if (!is_edge || (row < a_units * P && b < b_units)) {
        const Whole turned = tile[(thread + p * threads) ^ mixed(row >> Packs::kLogSide)];
        store_wide(reinterpret_cast<Whole*>(to), turned);
      }
      to += rows_step * turns.y_stride;
    }
  };
  // A whole tile needs no predicates, of which there are too few for all loads to be under way.
  if (a_units >> turns.log_a != 0 && b_units >> turns.log_b != 0 &&
      threads * kUnits == 1 << (turns.log_a + turns.log_b))
    turn(std::false_type{});
  else
    turn(std::true_type{});
}

// What a kernel of turn_tile is launched with.
struct TurnGrid {
  unsigned grid = 0, block = 0;
};

// Shares matrices of a by b elements, both multiples of P, out to blocks: tiles as wide as they may
// be, or narrower where some multiprocessors would have none. `what` and `fix` are for the Error if
// there are more than a grid has blocks.
template <class Bits, int Bytes>
TurnGrid turn_shape(std::int64_t a, std::int64_t b, std::int64_t matrices, Turns& turns,
                    const std::string& what, const std::string& fix) {
  using Packs = TurnPacks<Bits, Bytes>;
  constexpr int kLogUnits = std::bit_width(unsigned{Packs::kUnits}) - 1;
  constexpr int kLogThreads = std::bit_width(unsigned{Packs::kThreads}) - 1;
  constexpr int kLogTile = kLogThreads + kLogUnits;
  constexpr int kLogLeast = 5 + kLogUnits; // a warp
  turns.a_units = a / Packs::kSide;
  turns.b_units = b / Packs::kSide;
  const auto log = [](std::int64_t units) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(units - 1)));
  };
  const int log_most_a = std::min(log(turns.a_units), kLogThreads);
  turns.log_a = std::min(log_most_a, (kLogTile + 1) / 2);
  turns.log_b = std::min({log(turns.b_units), kLogThreads, kLogTile - turns.log_a});
  turns.log_a = std::min(log_most_a, kLogTile - turns.log_b);
  const auto tiles_a = [&] { return div_up(turns.a_units, std::int64_t{1} << turns.log_a); };
  const auto tiles_b = [&] { return div_up(turns.b_units, std::int64_t{1} << turns.log_b); };
  while (turns.log_a + turns.log_b > kLogLeast &&
         matrices * tiles_a() * tiles_b() < device_properties().sm_count)
    --(turns.log_a > turns.log_b ? turns.log_a : turns.log_b);

  constexpr int kLogBanks = std::bit_width(static_cast<unsigned>(128 / std::max(Bytes, 4))) - 1;
  constexpr int kLogInBank = std::bit_width(static_cast<unsigned>(std::max(4 / Bytes, 1))) - 1;
  turns.mixed_to = std::max(kLogBanks - turns.log_a, 0) + kLogInBank;
  // In tiles that are too small bits of a would meet one another.
  if (turns.mixed_to >= turns.log_b + Packs::kLogSide) turns.mixed_to = 7; // behind kBankMask

  const unsigned grid = grid_x(matrices * tiles_a() * tiles_b(), what, fix);
  turns.tiles_a = NarrowDivisor(tiles_a());
  turns.tiles_b = NarrowDivisor(tiles_b());
  return {grid,
          1u << std::max({turns.log_a + turns.log_b - kLogUnits, turns.log_a, turns.log_b, 5})};
}

// Whether matrices of a by b elements can move by packs of `Bytes`: all rows begin and end between
// two, and either side has 32 bytes, for sectors to be whole. x and y are the first of the batch,
// whose steps are multiples of their rows.
template <int Bytes, class Bits>
bool turns_by(const Bits* x, const Bits* y, std::int64_t a, std::int64_t b, const Turns& turns) {
  constexpr int kElement = sizeof(Bits);
  constexpr int kSide = Bytes / kElement;
  const auto whole = [&](const Bits* first, std::int64_t extent, std::int64_t stride) {
    return reinterpret_cast<std::uintptr_t>(first) % unsigned{Bytes} == 0 && extent % kSide == 0 &&
           extent * kElement >= 32 && stride % kSide == 0;
  };
  return whole(x, a, turns.x_stride) && whole(y, b, turns.y_stride);
}

// Calls body(std::integral_constant<int, Bytes>) with the widest packs that they can move by.
template <class Bits, class Body>
void with_turn_bytes(const Bits* x, const Bits* y, std::int64_t a, std::int64_t b,
                     const Turns& turns, Body body) {
  constexpr int kElement = sizeof(Bits);
  if (turns_by<kPackBytes>(x, y, a, b, turns))
    return body(std::integral_constant<int, kPackBytes>{});
  if constexpr (kElement < 4)
    if (turns_by<4>(x, y, a, b, turns)) return body(std::integral_constant<int, 4>{});
  body(std::integral_constant<int, kElement>{});
}

} // namespace kg
