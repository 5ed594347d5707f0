// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's part of a row: every `threads`-th pack from its own on, so that the loads of a warp
// are contiguous. Behind the row's end stand zeros. A part may add another row to its own before
// anything else is done with it.
#pragma once

#include "primitives/row.h"

namespace kg::normalization {

// How many elements of the pack are in the row; 0 or less behind it.
template <int Count>
__device__ inline int elements_in_row(std::int64_t pack, std::int64_t cols) {
  const std::int64_t left = cols - pack * Count;
  return left < Count ? static_cast<int>(left) : Count;
}

// The sum, rounded as it is where it is stored as T.
template <class T, int Count>
__device__ inline void add_rounded(Floats<Count>& to, const Floats<Count>& other) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    to.value[e] = to_float(from_float<T>(to.value[e] + other.value[e]));
}

// Read once and kept in registers: at most Packs packs per thread.
template <class T, int Count, int Packs>
class HeldPart {
 public:
  static constexpr int kCount = Count;

  __device__ HeldPart(const T* row, std::int64_t cols, int thread, int threads)
      : cols_(cols), thread_(thread), threads_(threads) {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) held_[p] = load_pack<T, Count>(row, place(p), cols, 0.0f);
  }

  // The row becomes its sum with `other`, in T, and `sum` a copy of that; `sum` may be either row.
  __device__ void add(const T* other, T* sum) {
    Floats<Count> more[Packs];
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) more[p] = load_pack<T, Count>(other, place(p), cols_, 0.0f);
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      add_rounded<T>(held_[p], more[p]);
      store_pack<T, Count, Store::streamed>(sum, place(p), cols_, held_[p]);
    }
  }

  // use(pack number, values)
  template <class Use>
  __device__ void each(Use use) const {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) use(place(p), held_[p]);
  }

  // `to` becomes what change(pack number, values) makes of the row. The loads of several packs'
  // `change` stand before the first store, because the compiler must not move a load over a store
  // that may alias it; those of all packs would need too many registers.
  template <class Change>
  __device__ void store(T* to, Change change) {
    KG_UNROLL
    for (int first = 0; first < Packs; first += kTogether) {
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p) change(place(first + p), held_[first + p]);
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p)
        store_pack<T, Count, Store::streamed>(to, place(first + p), cols_, held_[first + p]);
    }
  }

 private:
  static constexpr int kTogether = Packs * Count < 8 ? Packs : 8 / Count; // 8 elements
  static_assert(Packs % kTogether == 0);

  __device__ std::int64_t place(int p) const { return p * threads_ + thread_; }

  Floats<Count> held_[Packs];
  std::int64_t cols_;
  int thread_;
  int threads_;
};

// Read again each time, for rows that no block can hold; after the first time from L2 where the
// rows under way fit there.
template <class T, int Count>
class RereadPart {
 public:
  static constexpr int kCount = Count;

  __device__ RereadPart(const T* row, std::int64_t cols, int thread, int threads)
      : row_(row), cols_(cols), packs_((cols + Count - 1) / Count), thread_(thread),
        threads_(threads) {}

  // As HeldPart's; what is read again is `sum`, by the threads that wrote it.
  __device__ void add(const T* other, T* sum) {
    chunks(
        [&](std::int64_t pack, Floats<Count>& values) {
          add_rounded<T>(values, load_pack<T, Count>(other, pack, cols_, 0.0f));
        },
        [&](std::int64_t pack, const Floats<Count>& values) {
          store_pack<T, Count>(sum, pack, cols_, values);
        });
    row_ = sum;
  }

  template <class Use>
  __device__ void each(Use use) const {
    chunks([&](std::int64_t pack, const Floats<Count>& values) { use(pack, values); },
           [](std::int64_t, const Floats<Count>&) {});
  }

  // `to` may be the row.
  template <class Change>
  __device__ void store(T* to, Change change) {
    chunks(change, [&](std::int64_t pack, const Floats<Count>& values) {
      store_pack<T, Count>(to, pack, cols_, values);
    });
  }

 private:
  static constexpr int kPacksInFlight = Count > 4 ? 2 : 4; // loaded before the first one is used

  template <class First, class Then>
  __device__ void chunks(First first, Then then) const {
    for (std::int64_t start = thread_; start < packs_; start += kPacksInFlight * threads_) {
      Floats<Count> values[kPacksInFlight];
      KG_UNROLL
      for (int p = 0; p < kPacksInFlight; ++p)
        values[p] = load_pack<T, Count>(row_, start + p * threads_, cols_, 0.0f);
      KG_UNROLL
      for (int p = 0; p < kPacksInFlight; ++p) first(start + p * threads_, values[p]);
      KG_UNROLL
      for (int p = 0; p < kPacksInFlight; ++p) then(start + p * threads_, values[p]);
    }
  }

  const T* row_;
  std::int64_t cols_;
  std::int64_t packs_;
  int thread_;
  int threads_;
};

} // namespace kg::normalization
