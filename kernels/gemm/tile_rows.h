// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What gemm's kernels of large tiles share: which tile a block has, and how rows of a finished one
// come from shared memory into C.
#pragma once

#include "gemm/finish.h"
#include "gemm/shared_sums.h"

#include <cstdint>

namespace kg::gemm {

// Rows of tiles that neighbouring blocks share: their operands stay in L2, those of a whole row or
// column of tiles of a large C would not.
inline constexpr unsigned kTilesInGroup = 16;

// Which tile of C, by rows and columns of tiles.
struct TilePlace {
  unsigned row, column;
};
__device__ __forceinline__ TilePlace place_of(unsigned tile, unsigned tiles_m, unsigned tiles_n) {
  const unsigned height = tiles_m < kTilesInGroup ? tiles_m : kTilesInGroup;
  const unsigned group = tile / (height * tiles_n);
  const unsigned in_group = tile % (height * tiles_n);
  const unsigned left = tiles_m - group * height;
  const unsigned rows = left < height ? left : height;
  return {group * height + in_group % rows, in_group / rows};
}

// Rows of a tile in shared memory: their columns, the floats between two of them, and the threads
// of the block.
struct RowsOfTile {
  int columns, pitch, threads;
};

// A thread's packs of z, or of C where no z is read, some rows ahead of the one that it finishes:
// of memory's latency a row's arithmetic hides little.
template <class T, int kCount, int kStep>
class RowsAhead {
  static constexpr int kAhead = 4;

 public:
  __device__ __forceinline__ RowsAhead(const BasicProblem<T>& p, std::int64_t product,
                                       std::int64_t row0, std::int64_t pack, int row, int rows)
      : n_(p.n), pack_(pack), rows_(rows), wanted_(reads_c(p) || differentiates(p.epilogue)) {
    leading_ = differentiates(p.epilogue) ? p.ldz : p.ldc;
    next_ = differentiates(p.epilogue) ? row_of_z(p, product, row0 + row)
                                       : row_of_c(p, product, row0 + row);
    KG_UNROLL
    for (int i = 0; i < kAhead; ++i) load(row + i * kStep, packs_[i]);
  }
  // That of `row`; the next of these calls is for the next row of the thread.
  __device__ __forceinline__ StoredPack<T, kCount> take(int row) {
    const StoredPack<T, kCount> taken = packs_[0];
    if (wanted_) {
      KG_UNROLL
      for (int i = 0; i + 1 < kAhead; ++i) packs_[i] = packs_[i + 1];
    }
    load(row + kAhead * kStep, packs_[kAhead - 1]);
    return taken;
  }

 private:
  __device__ __forceinline__ void load(int row, StoredPack<T, kCount>& to) {
    if (wanted_ && row < rows_) to = load_stored<T, kCount>(next_, pack_, n_);
    next_ += kStep * leading_;
  }

  StoredPack<T, kCount> packs_[kAhead] = {};
  const T* next_;
  std::int64_t leading_, n_, pack_;
  int rows_;
  bool wanted_;
};

// Writes `rows` of them to C by packs of kCount.
template <RowsOfTile kRows, int kCount, class T>
__device__ __forceinline__ void write_rows(const BasicProblem<T>& p, std::int64_t product,
                                           std::int64_t row0, std::int64_t column0, int rows,
                                           const float* sums) {
  constexpr int kPacks = kRows.columns / kCount, kStep = kRows.threads / kPacks;
  static_assert(kRows.threads % kPacks == 0, "a thread has one pack of each of its rows");
  const int in_row = static_cast<int>(threadIdx.x) % kPacks;
  const std::int64_t pack = column0 / kCount + in_row;
  int row = static_cast<int>(threadIdx.x) / kPacks;
  if (pack * kCount >= p.n || row >= rows) return;
  Beside<T, kCount> beside{};
  beside.bias = bias_of<T, kCount>(p, pack);
  RowsAhead<T, kCount, kStep> ahead(p, product, row0, pack, row, rows);
  KG_ROLLED
  for (; row < rows; row += kStep) {
    beside.c = beside.z = ahead.take(row);
    if (reads_c(p) && differentiates(p.epilogue))
      beside.c = load_stored<T, kCount>(row_of_c(p, product, row0 + row), pack, p.n);
    finish<kCount>(p, product, row0 + row, pack,
                   sums_at<kCount>(sums + row * kRows.pitch + in_row * kCount, in_row), beside);
  }
}

// The same of a part of k.
template <RowsOfTile kRows, int kCount>
__device__ __forceinline__ void write_rows(const PartialSums& to, std::int64_t part,
                                           std::int64_t row0, std::int64_t column0, int rows,
                                           const float* sums) {
  constexpr int kPacks = kRows.columns / kCount;
  KG_ROLLED
  for (int i = static_cast<int>(threadIdx.x); i < rows * kPacks; i += kRows.threads) {
    const int row = i / kPacks, pack = i % kPacks;
    if (column0 + pack * kCount < to.n)
      finish<kCount>(to, part, row0 + row, column0 / kCount + pack,
                     sums_at<kCount>(sums + row * kRows.pitch + pack * kCount, pack));
  }
}

} // namespace kg::gemm
