// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel stores its combined values: results, or accumulators for a second launch. One type
// covers both, so each kernel is instantiated once.
#pragma once

#include "primitives/pack.h"

#include <cstdint>

namespace kg::reduction {

inline constexpr int kThreads = 256;
inline constexpr int kBlocksPerSm =
    4; // resident on every device of compute capability 7.5 and later

template <class F, class Out>
struct Target {
  using A = typename F::Accumulator;
  Out* results;
  A* partials; // written instead of results if not null

  __device__ void store(const F& functor, std::int64_t i, A value) const {
    store<1>(functor, i, &value);
  }

  // Count neighbours; the first is aligned to 16 bytes or to the size of all of them.
  template <int Count>
  __device__ void store(const F& functor, std::int64_t i, const A* values) const {
    if (partials != nullptr)
      store_packs<Count>(functor, partials + i, values);
    else
      store_packs<Count>(functor, results + i, values);
  }

 private:
  template <int Count, class T>
  __device__ static void store_packs(const F& functor, T* to, const A* values) {
    constexpr int kPack = Count < kPackElements<T> ? Count : kPackElements<T>;
    KG_UNROLL
    for (int first = 0; first < Count; first += kPack) {
      Pack<T, kPack> pack;
      KG_UNROLL
      for (int e = 0; e < kPack; ++e)
        pack.element[e] = functor.template finish<T>(values[first + e]);
      *reinterpret_cast<Pack<T, kPack>*>(to + first) = pack;
    }
  }
};

} // namespace kg::reduction
