// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Unaligned packs, extracted from the two aligned packs that contain them: two 16-byte loads, the
// second of which hits L1 because a neighbouring lane loads it as well, and up to 15 instructions.
// Loading single 16-bit elements would take eight loads. Words are selected in pairs, then singly;
// the rest is a shift by half a word.
#pragma once

#include "primitives/stored_pack.h"

#include <cstdint>
#include <cstring>

namespace kg {

inline constexpr int kPackWords = kPackBytes / 4;

struct PackWords {
  unsigned word[kPackWords];
};

// The number of elements from the previous pack boundary to `pointer`.
template <class T>
__device__ __forceinline__ int elements_past_boundary(const T* pointer) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(pointer) % kPackBytes / sizeof(T));
}

template <class T>
class UnalignedPack {
  static constexpr int kCount = kPackElements<T>;
  static constexpr int kOfWord = 4 / sizeof(T);

 public:
  // Loads two packs, from the pack boundary at or before the first element.
  __device__ __forceinline__ void load(const T* aligned) {
    packs_[0].load(aligned);
    packs_[1].load(aligned + kCount);
  }
  __device__ __forceinline__ void loaded() { kg::loaded(packs_); }

  // The pack that starts `shift` elements after the boundary.
  __device__ __forceinline__ PackWords words(int shift) const {
    unsigned word[2 * kPackWords];
    KG_UNROLL
    for (int p = 0; p < 2; ++p) {
      const Pack<T, kCount> pack = packs_[p].pack();
      memcpy(word + p * kPackWords, &pack, sizeof pack);
    }
    const bool twos = (shift & (2 * kOfWord)) != 0;
    const bool ones = (shift & kOfWord) != 0;
    KG_UNROLL
    for (int w = 0; w < kPackWords + 2; ++w) word[w] = twos ? word[w + 2] : word[w];
    KG_UNROLL
    for (int w = 0; w < kPackWords + 1; ++w) word[w] = ones ? word[w + 1] : word[w];
    PackWords result;
    KG_UNROLL
    for (int w = 0; w < kPackWords; ++w) {
      const std::uint64_t both = std::uint64_t{word[w + 1]} << 32 | word[w];
      result.word[w] = static_cast<unsigned>(both >> (shift % kOfWord * 8 * sizeof(T)));
    }
    return result;
  }

 private:
  StoredPack<T, kCount> packs_[2];
};

// A mask of the first `elements` elements of a pack.
template <class T>
__device__ __forceinline__ PackWords mask_of_first(int elements) {
  constexpr int kOfWord = 4 / sizeof(T);
  PackWords mask;
  KG_UNROLL
  for (int w = 0; w < kPackWords; ++w) {
    const int of_word = min(max(elements - w * kOfWord, 0), kOfWord);
    const auto bits = static_cast<unsigned>(of_word * 8 * static_cast<int>(sizeof(T)));
    mask.word[w] = static_cast<unsigned>((std::uint64_t{1} << bits) - 1);
  }
  return mask;
}

// `first` where the mask is set, else `second`.
__device__ __forceinline__ PackWords joined(const PackWords& first, const PackWords& second,
                                            const PackWords& mask) {
  PackWords result;
  KG_UNROLL
  for (int w = 0; w < kPackWords; ++w)
    result.word[w] = (first.word[w] & mask.word[w]) | (second.word[w] & ~mask.word[w]);
  return result;
}

template <class T>
__device__ __forceinline__ Pack<T, kPackElements<T>> pack_of(const PackWords& words) {
  Pack<T, kPackElements<T>> pack;
  memcpy(&pack, &words, sizeof pack);
  return pack;
}

} // namespace kg
