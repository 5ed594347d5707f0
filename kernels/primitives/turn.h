// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turning a tile through shared memory, both sides coalesced: b runs along rows of the result, a
// along rows of the source. A tile is 1024 words. Elements of 1 and 2 bytes move K to a word of 4
// bytes: a thread turns K x K of them in its registers, so that what lies in shared memory are
// words of the result, and a request carries as many bytes as one of f32.
//
// Banks: a tile lies in shared memory as rows of its longer side. Rows are padded such that the
// lanes of a warp that write a column of it (or short pieces of several) meet different banks.
#pragma once

#include "runtime/device_code.h"

#include <algorithm>
#include <cstdint>

namespace kg {

inline constexpr int kTurnThreads = 256;
inline constexpr int kTurnWords = 1024;
inline constexpr int kTurnSide = 32; // of a square tile of K = 1
inline constexpr int kTurnPadded = kTurnWords + 128;

// A tile of 2^log_a by 2^log_b units, each K x K elements. Word (row, unit of b) of the turned tile
// lies at row * row_pitch + unit * unit_pitch.
struct TurnShape {
  int log_a = 0;
  int log_b = 0;
  int row_pitch = 0;
  int unit_pitch = 0;
};

// The extent of a side of `units`, of which a tile must not take more than twice.
constexpr int log_of_side(std::int64_t units) {
  int log = 0;
  while ((1 << log) < kTurnSide && (1 << log) < units) ++log;
  return log;
}

// Whether a matrix of a by b elements can move K to a word: sides of whole words, as long as a tile
// of K > 1. x and y must be aligned to words, too.
template <int K>
constexpr bool turns_in_words(std::int64_t a, std::int64_t b) {
  return a % K == 0 && b % K == 0 && a / K >= 8 && b / K >= kTurnSide;
}

// For a source of so many units; with K > 1 those of turns_in_words.
template <class Word, int K>
constexpr TurnShape turn_shape(std::int64_t a_units, std::int64_t b_units) {
  constexpr int kLogUnits = K == 1 ? 10 : K == 2 ? 9 : 8;
  constexpr int kLanes = sizeof(Word) == 8 ? 16 : 32; // that the banks serve at once
  constexpr int kBankWords = sizeof(Word) < 4 ? 4 / static_cast<int>(sizeof(Word)) : 1;
  const int log_a = log_of_side(a_units);
  const int log_b = log_of_side(b_units);
  const auto padded = [](int log_long, int log_short) {
    return (1 << log_long) + kBankWords * std::max(kLanes >> log_short, 1);
  };
  if (log_b == 5) { // rows of b, as long as they must be to fill the tile
    const int short_a = std::min(log_a, kLogUnits - log_b);
    const int long_b = kLogUnits - short_a;
    return {short_a, long_b, padded(long_b, short_a), 1};
  }
  return {kLogUnits - log_b, log_b, 1, padded(kLogUnits - log_b, log_b)};
}

// Words of rows a ... of K rows b ... become words of rows b ... of K rows a ....
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

// One tile by a block of kTurnThreads: y[a][b] = x[b][a]. x and y are the tile's first words;
// a_units and b_units what is left of the matrix from there; strides in words.
template <int K, class Word>
__device__ inline void turn_tile(const Word* __restrict__ x, std::int64_t x_stride,
                                 Word* __restrict__ y, std::int64_t y_stride, std::int64_t a_units,
                                 std::int64_t b_units, const TurnShape& shape) {
  constexpr int kPasses = kTurnWords / kTurnThreads;
  constexpr int kUnits = kPasses / K; // of a thread
  __shared__ Word tile[kTurnPadded];
  const int thread = static_cast<int>(threadIdx.x);
  Word word[kUnits][K] = {};
  KG_UNROLL
  for (int u = 0; u < kUnits; ++u) {
    const int unit = thread + u * kTurnThreads;
    const int a = unit & ((1 << shape.log_a) - 1);
    const int b = unit >> shape.log_a;
    if (a < a_units && b < b_units) {
      KG_UNROLL
      for (int k = 0; k < K; ++k) word[u][k] = x[(b * K + k) * x_stride + a];
    }
  }
  KG_UNROLL
  for (int u = 0; u < kUnits; ++u) {
    const int unit = thread + u * kTurnThreads;
    const int a = unit & ((1 << shape.log_a) - 1);
    const int b = unit >> shape.log_a;
    if (a < a_units && b < b_units) {
      turn_words(word[u]);
      // Neighbours of a lie in neighbouring rows, word k of each 2^log_a rows further on.
      KG_UNROLL
      for (int k = 0; k < K; ++k)
        tile[((k << shape.log_a) + a) * shape.row_pitch + b * shape.unit_pitch] = word[u][k];
    }
  }
  __syncthreads();
  KG_UNROLL
  for (int p = 0; p < kPasses; ++p) {
    const int place = thread + p * kTurnThreads;
    const int b = place & ((1 << shape.log_b) - 1);
    const int row = place >> shape.log_b;
    const int a = row & ((1 << shape.log_a) - 1);
    if (a < a_units && b < b_units)
      y[(a * K + (row >> shape.log_a)) * y_stride + b] =
          tile[row * shape.row_pitch + b * shape.unit_pitch];
  }
}

} // namespace kg
