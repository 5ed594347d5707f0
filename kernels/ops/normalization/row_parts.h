// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A thread's part of a row: every `threads`-th vector from its own, so that a warp's loads are
// contiguous. Elements past the row's end are 0. A part may first add another row to its own.
#pragma once

#include "primitives/row.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kg::normalization {

// The number of the vector's elements that are in the row; 0 or less past its end.
template <int Count, class Index = std::int64_t>
__device__ inline int elements_in_row(std::type_identity_t<Index> pack,
                                      std::type_identity_t<Index> cols) {
  const Index left = cols - pack * Count;
  return left < Count ? static_cast<int>(left) : Count;
}

// Adds, and rounds the sum as if it were stored as T.
template <class T, int Count>
__device__ inline void add_rounded(Floats<Count>& to, const Floats<Count>& other) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    to.value[e] = to_float(from_float<T>(to.value[e] + other.value[e]));
}

// Vectors of each of several arrays for which a thread has registers: 32 bytes.
template <class T, int Count>
inline constexpr int kPacksTogether = static_cast<int>(32 / (Count * sizeof(T)));

// Read once and kept in registers: at most Packs vectors per thread. Call `arrive` or `add` first.
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

  // The row becomes its sum with `other`, in T, and so does `sum`; `sum` may be either row.
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

  // Calls use(pack number, values) for each vector.
  template <class Use>
  __device__ void each(Use use) const {
    KG_UNROLL
    for (int p = 0; p < Packs; ++p) use(place(p), held_[p]);
  }

  // Stores change(values, load(pack number)) to `to`. Several vectors are loaded before the first
  // use and the first store, since the compiler must not move loads across a store; loading all of
  // them would need too many registers.
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

// Read again each time, for rows that no block can hold; after the first time from L2 if the rows
// in flight fit.
template <class T, int Count>
class RereadPart {
 public:
  static constexpr int kCount = Count;
  static constexpr bool kInWholePacks = false;

  __device__ RereadPart(const T* row, std::int64_t cols, int thread, int threads)
      : row_(row), cols_(cols), packs_((cols + Count - 1) / Count), thread_(thread),
        threads_(threads) {}

  __device__ void arrive() {}

  // As HeldPart::add. Later passes read `sum`, in the threads that wrote it.
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
  static constexpr int kPacksInFlight = Count > 4 ? 2 : 4; // loaded before the first use

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
