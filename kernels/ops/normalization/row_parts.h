// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's part of a row: every `threads`-th pack from its own on, so that the loads of a warp
// are contiguous. Behind the row's end stand zeros. A part may add another row to its own before
// anything else is done with it.
#pragma once

#include "primitives/row.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kg::normalization {

// How many elements of the pack are in the row; 0 or less behind it.
template <int Count, class Index = std::int64_t>
__device__ inline int elements_in_row(std::type_identity_t<Index> pack,
                                      std::type_identity_t<Index> cols) {
  const Index left = cols - pack * Count;
  return left < Count ? static_cast<int>(left) : Count;
}

// The sum, rounded as it is where it is stored as T.
template <class T, int Count>
__device__ inline void add_rounded(Floats<Count>& to, const Floats<Count>& other) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    to.value[e] = to_float(from_float<T>(to.value[e] + other.value[e]));
}

// Packs of each of several vectors that a thread has the registers for: 32 bytes.
template <class T, int Count>
inline constexpr int kPacksTogether = static_cast<int>(32 / (Count * sizeof(T)));

// Read once and kept in registers: at most Packs packs per thread. Nothing may be done with it
// before `arrive` or `add`.
template <class T, int Count, int Packs>
class HeldPart {
 public:
  static constexpr int kCount = Count;
  static constexpr bool kInWholePacks = false;

  __device__ HeldPart(const T* row, std::int64_t cols, int thread, int threads)
      : cols_(cols), thread_(thread), threads_(threads) {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) stored_[p] = load_stored<T, Count>(row, place(p), cols);
  }

  __device__ void arrive() { widen(stored_, held_); }

  // The row becomes its sum with `other`, in T, and `sum` a copy of that; `sum` may be either row.
  __device__ void add(const T* other, T* sum) {
    StoredPack<T, Count> more[Packs];
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) more[p] = load_stored<T, Count>(other, place(p), cols_);
    arrive();
    loaded(more);
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) {
      add_rounded<T>(held_[p], widened(more[p]));
      store_pack<T, Count, Store::streamed>(sum, place(p), cols_, held_[p]);
    }
  }

  // use(pack number, values)
  template <class Use>
  __device__ void each(Use use) const {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) use(place(p), held_[p]);
  }

  // `to` becomes what change(values, load(pack number)) makes of the row. Several packs are loaded
  // before the first is used, and before the first store, over which the compiler must not move a
  // load; all of them would need too many registers.
  template <class Load, class Change>
  __device__ void store(T* to, Load load, Change change) {
    KG_UNROLL
    for (int first = 0; first < Packs; first += kTogether) {
      decltype(load(0)) with[kTogether];
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p) with[p] = load(place(first + p));
      loaded(with);
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p) change(held_[first + p], with[p]);
      KG_UNROLL
      for (int p = 0; p < kTogether; ++p)
        store_pack<T, Count, Store::streamed>(to, place(first + p), cols_, held_[first + p]);
    }
  }

 private:
  static constexpr int kTogether = std::min(Packs, kPacksTogether<T, Count>);
  static_assert(Packs % kTogether == 0);

  __device__ std::int64_t place(int p) const { return p * threads_ + thread_; }

  StoredPack<T, Count> stored_[Packs];
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
  static constexpr bool kInWholePacks = false;

  __device__ RereadPart(const T* row, std::int64_t cols, int thread, int threads)
      : row_(row), cols_(cols), packs_((cols + Count - 1) / Count), thread_(thread),
        threads_(threads) {}

  __device__ void arrive() {}

  // As HeldPart's; what is read again is `sum`, by the threads that wrote it.
  __device__ void add(const T* other, T* sum) {
    store(
        sum, [&](std::int64_t pack) { return load_stored<T, Count>(other, pack, cols_); },
        [](Floats<Count>& values, const StoredPack<T, Count>& more) {
          add_rounded<T>(values, widened(more));
        });
    row_ = sum;
  }

  template <class Use>
  __device__ void each(Use use) const {
    chunks<kPacksInFlight>(
        [](std::int64_t) { return Nothing(); },
        [&](std::int64_t pack, const Floats<Count>& values, Nothing) { use(pack, values); },
        [](std::int64_t, const Floats<Count>&) {});
  }

  // `to` may be the row.
  template <class Load, class Change>
  __device__ void store(T* to, Load load, Change change) {
    chunks<std::min(kPacksInFlight, kPacksTogether<T, Count>)>(
        load, [&](std::int64_t, Floats<Count>& values, const auto& with) { change(values, with); },
        [&](std::int64_t pack, const Floats<Count>& values) {
          store_pack<T, Count>(to, pack, cols_, values);
        });
  }

 private:
  static constexpr int kPacksInFlight = Count > 4 ? 2 : 4; // loaded before the first one is used

  struct Nothing {
    __device__ void keep_raw() {}
  };

  template <int Packs, class Load, class First, class Then>
  __device__ void chunks(Load load, First first, Then then) const {
    for (std::int64_t start = thread_; start < packs_; start += Packs * threads_) {
      StoredPack<T, Count> stored[Packs];
      decltype(load(0)) with[Packs];
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        stored[p] = load_stored<T, Count>(row_, start + p * threads_, cols_);
        with[p] = load(start + p * threads_);
      }
      loaded(stored);
      loaded(with);
      Floats<Count> values[Packs];
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) {
        values[p] = widened(stored[p]);
        first(start + p * threads_, values[p], with[p]);
      }
      KG_UNROLL
      for (int p = 0; p < Packs; ++p) then(start + p * threads_, values[p]);
    }
  }

  const T* row_;
  std::int64_t cols_;
  std::int64_t packs_;
  int thread_;
  int threads_;
};

} // namespace kg::normalization
