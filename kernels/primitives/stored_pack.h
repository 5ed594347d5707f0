// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Packs in their storage type, before conversion to f32. Kernels also keep them in shared memory,
// at two bytes per element for f16 and bf16.
//
// A thread that needs several packs issues all loads, calls loaded(), and only then uses the first.
// Otherwise nvcc (13.0) unpacks 16-bit elements in both branches of the load (16 bytes, or single
// elements at the end of a row). The first conversion then precedes the second load, and loads that
// should be in flight together are serialized.
#pragma once

#include "instructions/raw_words.h"
#include "primitives/pack.h"

#include <cstring>
#include <type_traits>

namespace kg {

template <int Count>
struct Floats {
  float value[Count];
};

// Raw register words on a GPU. On the host the pack itself, so that one access is one variable.
template <class T, int Count>
class StoredPack {
  using Whole = Pack<T, Count>;
  static constexpr bool kIsWords = KG_BACKEND_CUDA && sizeof(Whole) > 1;
  using Word = std::conditional_t<sizeof(Whole) % 4 == 0, unsigned, unsigned short>;
  static constexpr int kWords = static_cast<int>((sizeof(Whole) + 1) / sizeof(Word));
  using Raw = std::conditional_t<kIsWords, ptx::RawWords<Word, kWords>, Whole>;

 public:
  __device__ __forceinline__ void load(const T* from) {
    raw_ = *reinterpret_cast<const Raw*>(from);
  }
  __device__ __forceinline__ void set(const Whole& pack) {
    if constexpr (kIsWords)
      memcpy(&raw_, &pack, sizeof raw_);
    else
      raw_ = pack;
  }
  __device__ __forceinline__ Whole pack() const {
    if constexpr (kIsWords) {
      Whole pack;
      memcpy(&pack, &raw_, sizeof pack);
      return pack;
    } else {
      return raw_;
    }
  }
  __device__ __forceinline__ void keep_raw() {
    if constexpr (kIsWords) ptx::keep_raw(raw_);
  }

 private:
  Raw raw_;
};

// Pack number `pack` of a row of `cols` elements, with `padding` beyond its end.
template <class T, int Count>
__device__ __forceinline__ StoredPack<T, Count> load_stored(const T* row, std::int64_t pack,
                                                            std::int64_t cols, T padding = {}) {
  const std::int64_t first = pack * Count;
  StoredPack<T, Count> result;
  if (first + Count <= cols) {
    result.load(row + first);
  } else {
    Pack<T, Count> part;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) part.element[e] = first + e < cols ? row[first + e] : padding;
    result.set(part);
  }
  return result;
}

// Marks the point where all these loads have been issued and their values may be used.
template <class Stored, int Packs>
__device__ __forceinline__ void loaded(Stored (&packs)[Packs]) {
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) packs[p].keep_raw();
}

// The pack as f32. By value, so that a pack in memory is read in one access.
template <class T, int Count>
__device__ __forceinline__ Floats<Count> widened(StoredPack<T, Count> stored) {
  const Pack<T, Count> pack = stored.pack();
  Floats<Count> result;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) result.value[e] = to_float(pack.element[e]);
  return result;
}

// The same for several packs, after loaded().
template <class T, int Count, int Packs>
__device__ __forceinline__ void widen(StoredPack<T, Count> (&stored)[Packs],
                                      Floats<Count> (&values)[Packs]) {
  loaded(stored);
  KG_UNROLL
  for (int p = 0; p < Packs; ++p) values[p] = widened(stored[p]);
}

} // namespace kg
