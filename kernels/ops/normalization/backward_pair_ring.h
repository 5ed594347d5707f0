// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's packs of x and of dy on their way through shared memory, where nobody else reads them:
// pairs of a row, which are seen twice, and of the row to come, in 16 bits in places of its own. A
// pair that has been seen for the last time makes room for that which is asked for next. All
// distances are known when the code is made: a pair takes no instruction but its own.
#pragma once

#include "instructions/cp_async.h"
#include "instructions/shared_pointer.h"
#include "ops/normalization/backward_row.h"
#include "primitives/stored_pack.h"

#include <cstddef>
#include <cstdint>

namespace kg::normalization::backward {

// Of `step`-th rows from `first` on, of which a block of so many threads has a slice: the thread
// every Threads-th pack from its first one on, which is element `begin` of the row and has `left`
// elements of the slice behind its beginning.
template <class T, int Count, int Packs, int Threads>
class PairRing {
  static_assert(Count * sizeof(T) == kPackBytes);
  using Stored = StoredPack<T, Count>;
  static constexpr int kRows = static_cast<int>(sizeof(float) / sizeof(T));

 public:
  static constexpr int kPairs = kRows * Packs;

  __device__ __forceinline__ PairRing(void* memory, const Backward<T>& f, std::int64_t first,
                                      std::int64_t step, int begin, int left)
      : row_(static_cast<Stored*>(memory) + threadIdx.x), left_(left), rows_(f.rows - first),
        step_(step), x_(f.x + first * f.x_stride + begin), dy_(f.dy + first * f.dy_stride + begin),
        x_step_(step * f.x_stride), dy_step_(step * f.dy_stride) {
    KG_UNROLL
    for (int r = 0; r < kRows; ++r) {
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) ask<false>(p);
      next();
    }
  }

  // Elements of the slice from the thread's p-th pack on.
  __device__ __forceinline__ int left(int p) const { return left_ - p * Threads * Count; }

  // The row's p-th pair.
  __device__ __forceinline__ Stored x(int p) const { return row_[2 * p * Threads]; }
  __device__ __forceinline__ Stored dy(int p) const { return row_[(2 * p + 1) * Threads]; }

  // Asks for the p-th pair of the row that takes this one's place, in a group of copies of its own,
  // which has none where there is no such pair. kWhole: all of the thread's packs are.
  template <bool kWhole>
  __device__ __forceinline__ void ask(int p) {
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

  // To the row that comes next.
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
  int other_ = 2 * Packs * Threads; // from this row's places to the other's
  int left_;
  std::int64_t rows_, step_; // from the row that is asked for next on
  const T* x_;
  const T* dy_;
  std::int64_t x_step_, dy_step_;
};

} // namespace kg::normalization::backward
