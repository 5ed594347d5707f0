// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposes matrices through shared memory with coalesced accesses on both sides: b runs along
// rows of the result, a along rows of the source. A pack is the unit of one access: 16 bytes if
// rows are aligned to and multiples of 16 bytes, otherwise a word of several small elements,
// otherwise one element. A thread loads units of P x P elements (one pack from each of P rows) and
// transposes them in registers. Shared memory then holds packs of the result and is also accessed
// in whole packs.
//
// Tiles have 256 bytes on both sides if packs have 16 and the matrix is large enough. Rows of 256
// bytes suit DRAM better than rows of 128 (2.92 against 3.10 ms, yencal's Vec4_T64 and Vec4 on an
// H100; perf/code/timing_model). Per multiprocessor (nvcc 13.0, 9.0a): a warp issues 36 to 53
// instructions per KiB with 16-byte packs and 120 to 140 with 4-byte packs, where copy bandwidth
// leaves time for 249; 48 to 128 KiB are in flight, where 29 suffice.
//
// Bank conflicts: packs lie in the order of the result, but the lowest bits of their index are
// XORed with bits of a. Lanes that are served together (8 with 16 bytes, 32 with 4) then access
// different banks. This holds when they store a column and when they load a row, whose packs differ
// in the lowest bits only.
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

inline constexpr int kTransposeBatchRank = 3;

// Packs of `Bytes` bytes with elements `Bits`.
template <class Bits, int Bytes>
struct TransposePacks {
  static constexpr bool kIsWords = sizeof(Bits) < 4 && Bytes >= 4;
  using Word = std::conditional_t<kIsWords, std::uint32_t, Bits>;
  static constexpr int kInWord = static_cast<int>(sizeof(Word) / sizeof(Bits));
  static constexpr int kWords = Bytes / static_cast<int>(sizeof(Word));
  using Whole = Pack<Word, kWords>;

  static constexpr int kSide = kInWord * kWords; // P: elements per pack, packs per unit
  static constexpr int kLogSide = std::bit_width(static_cast<unsigned>(kSide)) - 1;
  // A thread has 64 bytes in flight, or 8 packs if they are narrower; a tile fits 32 KiB.
  static constexpr int kUnits = std::max((Bytes == kPackBytes ? 4 : 8) / kSide, 1);
  static constexpr int kThreads = kSide == 16 ? 128 : 256;
  static constexpr int kPacks = kThreads * kUnits * kSide;
};

// A batch of matrices. Strides are elements between rows: along b in x, along a in y.
struct TransposeBatch {
  std::int64_t x_stride = 0, y_stride = 0;
  int batch_rank = 0;
  NarrowDivisor extent[kTransposeBatchRank];
  std::int64_t x_step[kTransposeBatchRank] = {};
  std::int64_t y_step[kTransposeBatchRank] = {};

  // Set by transpose_shape(). Tiles are 2^log_a by 2^log_b units.
  std::int64_t a_units = 0, b_units = 0;
  NarrowDivisor tiles_a, tiles_b;
  int log_a = 0, log_b = 0;
  int mixed_to = 0; // the bit of a pack's index that is XORed with the lowest bit of a
};

// Advances both pointers to matrix `left` of the batch.
template <class Bits>
__device__ __forceinline__ void go_to_matrix(const TransposeBatch& batch, std::uint32_t left,
                                             const Bits* __restrict__& x, Bits* __restrict__& y) {
  KG_UNROLL
  for (int d = kTransposeBatchRank - 1; d >= 0; --d) {
    if (d >= batch.batch_rank) continue;
    const std::int64_t index = batch.extent[d].take_last(left);
    x += index * batch.x_step[d];
    y += index * batch.y_step[d];
  }
}

// Transposes the elements of K words, one from each of K rows.
template <int K, class Word>
__device__ inline void transpose_words(Word (&word)[K]) {
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

// Transposes packs of P rows into packs of P columns. Moving whole words is free.
template <class Packs>
__device__ __forceinline__ void transpose_unit(const typename Packs::Whole (&row)[Packs::kSide],
                                               typename Packs::Whole (&column)[Packs::kSide]) {
  constexpr int K = Packs::kInWord;
  KG_UNROLL
  for (int j = 0; j < Packs::kWords; ++j) {
    KG_UNROLL
    for (int m = 0; m < Packs::kWords; ++m) {
      typename Packs::Word word[K];
      KG_UNROLL
      for (int k = 0; k < K; ++k) word[k] = row[m * K + k].element[j];
      transpose_words(word);
      KG_UNROLL
      for (int k = 0; k < K; ++k) column[j * K + k].element[m] = word[k];
    }
  }
}

// Transposes the tile of this block: y[a][b] = x[b][a] in every matrix of the batch. A thread loads
// units with the same a and stores packs with the same b, so it only adds to its addresses.
template <class Bits, int Bytes>
__device__ inline void transpose_tile(const Bits* __restrict__ x, Bits* __restrict__ y,
                                      const TransposeBatch& batch) {
  using Packs = TransposePacks<Bits, Bytes>;
  using Whole = typename Packs::Whole;
  constexpr int P = Packs::kSide;
  constexpr int kUnits = Packs::kUnits;
  constexpr int kBankMask = 128 / Bytes - 1; // packs in different banks
  __shared__ Whole tile[Packs::kPacks];
  const auto mixed = [&batch](int a) { return (a << batch.mixed_to) & kBankMask; };

  std::uint32_t left = blockIdx.x;
  const std::int64_t first_a = static_cast<std::int64_t>(batch.tiles_a.take_last(left))
                               << batch.log_a;
  const std::int64_t first_b = static_cast<std::int64_t>(batch.tiles_b.take_last(left))
                               << batch.log_b;
  go_to_matrix(batch, left, x, y);
  const auto units_left = [](std::int64_t left, int log) {
    return left >> log > 0 ? 1 << log : static_cast<int>(left);
  };
  const int a_units = units_left(batch.a_units - first_a, batch.log_a);
  const int b_units = units_left(batch.b_units - first_b, batch.log_b);
  x += first_b * P * batch.x_stride + first_a * P;
  y += first_a * P * batch.y_stride + first_b * P;
  const int thread = static_cast<int>(threadIdx.x);
  const int threads = static_cast<int>(blockDim.x);

  const auto turn = [&](auto is_edge) {
    const int a = thread & ((1 << batch.log_a) - 1);
    const int first_b_unit = thread >> batch.log_a;
    const int units_step = threads >> batch.log_a;
    const Bits* from = x + (first_b_unit * P * batch.x_stride + a * P);
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
          row += batch.x_stride;
        }
      }
      from += units_step * P * batch.x_stride;
    }
    KG_UNROLL
    for (int u = 0; u < kUnits; ++u) {
      if (!is_inside(u)) continue;
      Whole column[P];
      transpose_unit<Packs>(unit[u], column);
      KG_UNROLL
      for (int k = 0; k < P; ++k) {
        const int pack = ((a * P + k) << batch.log_b) + first_b_unit + u * units_step;
        if constexpr (Bytes >= 8)
          ptx::store_shared(tile + (pack ^ mixed(a)), column[k]);
        else
          tile[pack ^ mixed(a)] = column[k];
      }
    }
    __syncthreads();
    const int b = thread & ((1 << batch.log_b) - 1);
    const int first_row = thread >> batch.log_b;
    const int rows_step = threads >> batch.log_b;
    Bits* to = y + (first_row * batch.y_stride + b * P);
    KG_UNROLL
    for (int p = 0; p < kUnits * P; ++p) {
      const int row = first_row + p * rows_step;
      if (!is_edge || (row < a_units * P && b < b_units)) {
        const Whole transposed = tile[(thread + p * threads) ^ mixed(row >> Packs::kLogSide)];
        store_wide(reinterpret_cast<Whole*>(to), transposed);
      }
      to += rows_step * batch.y_stride;
    }
  };
  // A full tile needs no predicates; with them there are too few to keep all loads in flight.
  if (a_units >> batch.log_a != 0 && b_units >> batch.log_b != 0 &&
      threads * kUnits == 1 << (batch.log_a + batch.log_b))
    turn(std::false_type{});
  else
    turn(std::true_type{});
}

// The launch configuration of a kernel that calls transpose_tile().
struct TransposeGrid {
  unsigned grid = 0, block = 0;
};

// Divides matrices of a by b elements, both multiples of P, among blocks. Tiles are as large as
// possible, or smaller if some multiprocessors would have none. Throws Error with `what` and `fix`
// if the grid would be too large.
template <class Bits, int Bytes>
TransposeGrid transpose_shape(std::int64_t a, std::int64_t b, std::int64_t matrices,
                              TransposeBatch& batch, const std::string& what,
                              const std::string& fix) {
  using Packs = TransposePacks<Bits, Bytes>;
  constexpr int kLogUnits = std::bit_width(unsigned{Packs::kUnits}) - 1;
  constexpr int kLogThreads = std::bit_width(unsigned{Packs::kThreads}) - 1;
  constexpr int kLogTile = kLogThreads + kLogUnits;
  constexpr int kLogLeast = 5 + kLogUnits; // a warp
  batch.a_units = a / Packs::kSide;
  batch.b_units = b / Packs::kSide;
  const auto log = [](std::int64_t units) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(units - 1)));
  };
  const int log_most_a = std::min(log(batch.a_units), kLogThreads);
  batch.log_a = std::min(log_most_a, (kLogTile + 1) / 2);
  batch.log_b = std::min({log(batch.b_units), kLogThreads, kLogTile - batch.log_a});
  batch.log_a = std::min(log_most_a, kLogTile - batch.log_b);
  const auto tiles_a = [&] { return div_up(batch.a_units, std::int64_t{1} << batch.log_a); };
  const auto tiles_b = [&] { return div_up(batch.b_units, std::int64_t{1} << batch.log_b); };
  while (batch.log_a + batch.log_b > kLogLeast &&
         matrices * tiles_a() * tiles_b() < device_properties().sm_count)
    --(batch.log_a > batch.log_b ? batch.log_a : batch.log_b);

  constexpr int kLogBanks = std::bit_width(static_cast<unsigned>(128 / std::max(Bytes, 4))) - 1;
  constexpr int kLogInBank = std::bit_width(static_cast<unsigned>(std::max(4 / Bytes, 1))) - 1;
  batch.mixed_to = std::max(kLogBanks - batch.log_a, 0) + kLogInBank;
  // In small tiles, bits of a would be XORed with each other.
  if (batch.mixed_to >= batch.log_b + Packs::kLogSide) batch.mixed_to = 7; // beyond kBankMask

  const unsigned grid = grid_x(matrices * tiles_a() * tiles_b(), what, fix);
  batch.tiles_a = NarrowDivisor(tiles_a());
  batch.tiles_b = NarrowDivisor(tiles_b());
  return {grid,
          1u << std::max({batch.log_a + batch.log_b - kLogUnits, batch.log_a, batch.log_b, 5})};
}

// Whether matrices of a by b elements can be moved in packs of `Bytes`: all rows begin and end at
// pack boundaries, and both sides have at least 32 bytes, a sector. x and y: the first matrix of
// the batch; steps of the batch must be multiples of rows.
template <int Bytes, class Bits>
bool can_transpose_by(const Bits* x, const Bits* y, std::int64_t a, std::int64_t b,
                      const TransposeBatch& batch) {
  constexpr int kElement = sizeof(Bits);
  constexpr int kSide = Bytes / kElement;
  const auto whole = [&](const Bits* first, std::int64_t extent, std::int64_t stride) {
    return reinterpret_cast<std::uintptr_t>(first) % unsigned{Bytes} == 0 && extent % kSide == 0 &&
           extent * kElement >= 32 && stride % kSide == 0;
  };
  return whole(x, a, batch.x_stride) && whole(y, b, batch.y_stride);
}

// Calls body(std::integral_constant<int, Bytes>) with the widest possible packs.
template <class Bits, class Body>
void with_transpose_bytes(const Bits* x, const Bits* y, std::int64_t a, std::int64_t b,
                          const TransposeBatch& batch, Body body) {
  constexpr int kElement = sizeof(Bits);
  if (can_transpose_by<kPackBytes>(x, y, a, b, batch))
    return body(std::integral_constant<int, kPackBytes>{});
  if constexpr (kElement < 4)
    if (can_transpose_by<4>(x, y, a, b, batch)) return body(std::integral_constant<int, 4>{});
  body(std::integral_constant<int, kElement>{});
}

} // namespace kg
