// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Bit masks over the elements of a stored pack, lowest bit first. Elements narrower than a word are
// tested as fields of the loaded words, all fields of a word at once. Accessing elements instead
// makes nvcc (13.0) unpack and repack the words.
#pragma once

#include "primitives/stored_pack.h"

#include <cstring>
#include <type_traits>

namespace kg {

template <class T>
inline constexpr bool kIsField = sizeof(T) < sizeof(unsigned);
template <class T>
inline constexpr int kFieldBits = 8 * static_cast<int>(sizeof(T));

// The words of a pack.
template <class T, int Count>
struct Fields {
  static constexpr int kOfWord = 32 / kFieldBits<T>;
  static constexpr int kWords = (Count + kOfWord - 1) / kOfWord;
  unsigned word[kWords];

  __device__ __forceinline__ explicit Fields(const StoredPack<T, Count>& pack) {
    word[kWords - 1] = 0; // may be only half filled
    memcpy(word, &pack, sizeof pack);
  }
};

template <class T, int Count>
__device__ __forceinline__ T element_of(const StoredPack<T, Count>& pack, int e) {
  if constexpr (kIsField<T>) {
    constexpr int kOfWord = Fields<T, Count>::kOfWord;
    return static_cast<T>(Fields<T, Count>(pack).word[e / kOfWord] >> e % kOfWord * kFieldBits<T>);
  } else {
    return pack.pack().element[e];
  }
}

// One bit per nonzero field of the word, with `above` shifted in above them.
template <int Bits>
__device__ __forceinline__ unsigned bits_of_fields(unsigned word, unsigned above) {
  static_assert(Bits == 8 || Bits == 16);
  constexpr unsigned kBelowHighest = Bits == 8 ? 0x7F7F7F7Fu : 0x7FFF7FFFu;
  constexpr unsigned kToTheTop = Bits == 8 ? 0x00204081u : 0x00008001u; // the highest of each field
  const unsigned highest = (((word & kBelowHighest) + kBelowHighest) | word) & ~kBelowHighest;
  return __funnelshift_l(highest * kToTheTop, above, 32 / Bits);
}

// One bit per nonzero element.
template <class T, int Count>
__device__ __forceinline__ unsigned bits_of(const StoredPack<T, Count>& pack) {
  const Fields<T, Count> fields(pack);
  unsigned bits = 0;
  KG_UNROLL
  for (int w = Fields<T, Count>::kWords - 1; w >= 0; --w)
    bits = bits_of_fields<kFieldBits<T>>(fields.word[w], bits);
  return bits;
}

// The end of a pack: its last element, or the word that holds it in its highest field.
template <class T>
using PackEnd = std::conditional_t<kIsField<T>, unsigned, T>;

template <class T>
__device__ __forceinline__ PackEnd<T> end_with(T element) {
  if constexpr (kIsField<T>)
    return static_cast<unsigned>(element) << (32 - kFieldBits<T>);
  else
    return element;
}

template <class T, int Count>
__device__ __forceinline__ PackEnd<T> end_of(const StoredPack<T, Count>& pack) {
  if constexpr (kIsField<T>)
    return Fields<T, Count>(pack).word[Fields<T, Count>::kWords - 1];
  else
    return element_of(pack, Count - 1);
}

// One bit per element that differs from its predecessor; `before` precedes the first.
template <class T, int Count>
__device__ __forceinline__ unsigned changes_of(const StoredPack<T, Count>& pack,
                                               PackEnd<T> before) {
  unsigned bits = 0;
  if constexpr (kIsField<T>) {
    const Fields<T, Count> fields(pack);
    KG_UNROLL
    for (int w = Fields<T, Count>::kWords - 1; w >= 0; --w) {
      const unsigned below = w == 0 ? before : fields.word[w - (w > 0)];
      const unsigned shifted = __funnelshift_l(below, fields.word[w], kFieldBits<T>);
      bits = bits_of_fields<kFieldBits<T>>(fields.word[w] ^ shifted, bits);
    }
  } else {
    const Pack<T, Count> elements = pack.pack();
    KG_UNROLL
    for (int e = 0; e < Count; ++e) {
      if (elements.element[e] != before) bits |= 1u << e;
      before = elements.element[e];
    }
  }
  return bits;
}

} // namespace kg
