// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes rows of a finished tile from shared memory to C, for gemm's kernels with large tiles.
#pragma once

#include "ops/gemm/finish.h"
#include "ops/gemm/shared_sums.h"
#include "primitives/tile_scheduler.h"

#include <cstdint>
#include <type_traits>

namespace kg::gemm {

// Rows of a tile in shared memory: columns, row stride in floats, and the number of threads that
// write them (a whole block or one warp).
struct RowsOfTile {
  int columns, pitch, threads;
};
template <RowsOfTile kRows>
__device__ __forceinline__ int thread_of_rows() {
  const int thread = static_cast<int>(threadIdx.x);
  return kRows.threads == 32 ? thread % 32 : thread;
}

// Writes rows of a tile, of which `rows` exist, to C. A thread writes the same vector of kCount
// elements in each of its rows, one row at a time. It loads its vectors of z (or of C if no z is
// read) kAhead rows ahead, since a row's arithmetic hides little memory latency. It loads its
// vector of the bias once. kWhole: vectors exist wholly or not at all. kReadsBeside: there is input
// to prefetch; otherwise the loop over rows carries no state.
template <RowsOfTile kRows, int kCount, bool kWhole, bool kReadsBeside, class T>
class RowWriter {
  using Stored = StoredPack<T, kCount>;
  static constexpr int kPacks = kRows.columns / kCount;
  static constexpr int kAhead = 4;
  static_assert(kRows.threads % kPacks == 0, "a thread has one vector of each of its rows");

 public:
  static constexpr int kStep = kRows.threads / kPacks; // rows between two rows of a thread

  __device__ __forceinline__ RowWriter(const BasicProblem<T>& p, std::int64_t product,
                                       std::int64_t row0, std::int64_t column0, int rows)
      : p_(p) {
    const std::int64_t column = column0 + in_row() * kCount, row = row0 + first_row();
    left_ = p.n - column;
    rows_ = left_ > 0 ? rows : 0;
    c_ = row_of_c(p, product, row) + column;
    if (p.z != nullptr) z_ = row_of_z(p, product, row) + column;
    if (adds_bias(p.epilogue) && left_ > 0) bias_ = widened(loaded(p.bias + column));
    if constexpr (kReadsBeside) {
      next_ = differentiates(p.epilogue) ? z_ : c_;
      KG_UNROLL
      for (int i = 0; i < kAhead; ++i) load(first_row() + i * kStep, ahead_[i]);
    }
  }
  __device__ __forceinline__ static int first_row() { return thread_of_rows<kRows>() / kPacks; }
  // Writes the thread's next row, number `row` of the tile, whose sums start at `sums`.
  __device__ __forceinline__ void write(int row, const float* sums) {
    if (row >= rows_) return;
    finish<kCount>(p_, sums_at<kCount>(sums + in_row() * kCount, in_row()), Beside{*this});
    c_ += kStep * p_.ldc;
    if constexpr (kReadsBeside) {
      KG_UNROLL
      for (int i = 0; i + 1 < kAhead; ++i) ahead_[i] = ahead_[i + 1];
      load(row + kAhead * kStep, ahead_[kAhead - 1]);
    }
  }

 private:
  struct Beside {
    static constexpr bool kReads = kReadsBeside;
    RowWriter& of;
    __device__ __forceinline__ Stored c() const {
      return differentiates(of.p_.epilogue) ? of.loaded(of.c_) : of.ahead_[0];
    }
    __device__ __forceinline__ Floats<kCount> bias() const { return of.bias_; }
    __device__ __forceinline__ Stored z() const { return of.ahead_[0]; }
    __device__ __forceinline__ void keep_z(const Floats<kCount>& value) const {
      store_pack<T, kCount, Store::wide>(of.z_, 0, of.left(), value);
      of.z_ += kStep * of.p_.ldz;
    }
    __device__ __forceinline__ void write(const Floats<kCount>& value) const {
      store_pack<T, kCount, Store::wide>(of.c_, 0, of.left(), value);
    }
  };

  __device__ __forceinline__ static int in_row() { return thread_of_rows<kRows>() % kPacks; }
  __device__ __forceinline__ std::int64_t left() const { return kWhole ? kCount : left_; }
  __device__ __forceinline__ Stored loaded(const T* from) const {
    return load_stored<T, kCount>(from, 0, left());
  }
  __device__ __forceinline__ void load(int row, Stored& to) {
    if (row < rows_) to = loaded(next_);
    next_ += kStep * (differentiates(p_.epilogue) ? p_.ldz : p_.ldc);
  }

  const BasicProblem<T>& p_;
  std::int64_t left_; // elements from the thread's vector to the end of the row
  int rows_;
  T *c_, *z_ = nullptr; // the thread's vectors in the next row of C, and of z
  Floats<kCount> bias_{};
  Stored ahead_[kAhead] = {};
  const T* next_ = nullptr;
};

// Writes rows of a tile, kRows.pitch floats apart in shared memory, to C.
template <RowsOfTile kRows, int kCount, bool kWhole, class T>
__device__ __forceinline__ void write_rows(const BasicProblem<T>& p, std::int64_t product,
                                           std::int64_t row0, std::int64_t column0, int rows,
                                           const float* sums) {
  const auto write = [&](auto reads) __attribute__((always_inline)) {
    using Writer = RowWriter<kRows, kCount, kWhole, reads.value, T>;
    Writer writer(p, product, row0, column0, rows);
    KG_ROLLED
    for (int row = Writer::first_row(); row < rows; row += Writer::kStep)
      writer.write(row, sums + row * kRows.pitch);
  };
  reads_beside(p) ? write(std::true_type{}) : write(std::false_type{});
}

// The same for partial sums of a part of k.
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
