// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's packs of x and dy on their way through shared memory, which no other thread reads: the
// pairs of the current row, which are read twice, and with 16-bit types also those of the next row,
// in separate slots. After its second read, a pair's slot is refilled with a prefetched pair. All
// distances are compile-time constants, so that addressing takes no instructions.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/shared_pointer.h"
#include "ops/normalization/backward_row.h"
#include "primitives/stored_pack.h"

#include <cstddef>
#include <cstdint>

namespace kg::normalization::backward {

// Processes every `step`-th row from `first` on, of which the block has a slice. The thread has
// every Threads-th pack of the slice. Its first pack starts at element `begin` of the row, with
// `left` elements of the slice remaining.
template <class T, int Count, int Packs, int Threads>
class PairPipeline {
  static_assert(Count * sizeof(T) == kPackBytes);
  using Stored = StoredPack<T, Count>;
  static constexpr int kRows = static_cast<int>(sizeof(float) / sizeof(T));

 public:
  static constexpr int kPairs = kRows * Packs;

  __device__ __forceinline__ PairPipeline(void* memory, const Backward<T>& f, std::int64_t first,
                                          std::int64_t step, int begin, int left)
      : row_(static_cast<Stored*>(memory) + threadIdx.x), left_(left), rows_(f.rows - first),
        step_(step), x_(f.x + first * f.x_stride + begin), dy_(f.dy + first * f.dy_stride + begin),
        x_step_(step * f.x_stride), dy_step_(step * f.dy_stride) {
    KG_UNROLL
    for (int r = 0; r < kRows; ++r) {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) prefetch<false>(p);
      next();
    }
  }

  // Remaining elements of the slice, from the thread's pack p.
  __device__ __forceinline__ int left(int p) const { return left_ - p * Threads * Count; }

  // Pair p of the current row.
  __device__ __forceinline__ Stored x(int p) const { return row_[2 * p * Threads]; }
  __device__ __forceinline__ Stored dy(int p) const { return row_[(2 * p + 1) * Threads]; }

  // Prefetches pair p of the row that replaces this one, as a commit group of its own, which is
  // empty if there is no such pair. kWhole: all packs of the thread are complete.
  template <bool kWhole>
  __device__ __forceinline__ void prefetch(int p) {
    const auto to = row_ + 2 * p * Threads;
    const T* const x = x_ + p * Threads * Count;
    const T* const dy = dy_ + p * Threads * Count;
    if (rows_ > 0) {
      if (kWhole || left(p) >= Count) {
        ptx::cp_async_cg(to, x, kPackBytes);
        ptx::cp_async_cg(to + Threads, dy, kPackBytes);
      } else if (left(p) > 0) {
        const int bytes = left(p) * static_cast<int>(sizeof(T));
        ptx::cp_async_cg(to, x, bytes);
        ptx::cp_async_cg(to + Threads, dy, bytes);
      }
    }
    ptx::cp_async_commit();
  }

  // Advances to the next row.
  __device__ __forceinline__ void next() {
    if constexpr (kRows > 1) {
      row_ += other_;
      other_ = -other_;
    }
    rows_ -= step_;
    x_ += x_step_;
    dy_ += dy_step_;
  }

 private:
  ptx::SharedPointer<Stored> row_;
  int other_ = 2 * Packs * Threads; // offset from this row's slots to the other's
  int left_;
  std::int64_t rows_, step_; // counted from the row to prefetch next
  const T* x_;
  const T* dy_;
  std::int64_t x_step_, dy_step_;
};

} // namespace kg::normalization::backward
