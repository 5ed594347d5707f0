// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys as ordered words: unsigned integers that have the order of the keys. Kernels are compiled
// per word, not per type. Signed and unsigned integers, and ascending and descending order, differ
// only in a kernel argument (`flip`).
#pragma once

#include "runtime/device_code.h"

#include <cstdint>
#include <type_traits>

namespace kg::sort {

inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;

// Integers: the smallest key becomes 0. `flip`: the sign bit, if any; inverted in descending order.
template <class W>
struct Integers {
  using Word = W;
  W flip;

  __device__ W ordered(W bits) const { return static_cast<W>(bits ^ flip); }
  __device__ W bits(W ordered) const { return static_cast<W>(ordered ^ flip); }
  __device__ W rank(W ordered) const { return ordered; }
};

// Floats: the magnitude counts upwards from the middle, or downwards for negative numbers. Zeros of
// both signs are adjacent there, in either direction, and have the same rank.
template <class W>
struct Floats {
  using Word = W;
  W flip;
  static constexpr int kSignBit = 8 * sizeof(W) - 1;
  static constexpr W kMiddle = W{1} << kSignBit;

  __device__ W ordered(W bits) const {
    const auto negative = static_cast<W>(0 - (bits >> kSignBit)); // all ones, or 0
    return static_cast<W>(bits ^ (negative | kMiddle) ^ flip);
  }
  __device__ W bits(W ordered) const {
    const auto upwards = static_cast<W>(ordered ^ flip);
    const auto negative = static_cast<W>((upwards >> kSignBit) - 1);
    return static_cast<W>(upwards ^ (negative | kMiddle));
  }
  __device__ W rank(W ordered) const { return ordered == kMiddle - 1 ? kMiddle : ordered; }
};

template <class Keys>
using Word = typename Keys::Word;

// The bits [shift, shift + kDigitBits) of a word, limited to those in `mask`.
struct Digit {
  int shift;
  unsigned mask;
};

template <class Keys>
__device__ __forceinline__ unsigned digit_of(const Keys& keys, Word<Keys> ordered, Digit digit) {
  return static_cast<unsigned>(keys.rank(ordered) >> digit.shift) & digit.mask;
}

// Whether the key at j precedes the key at i. `mask`: the bits to compare.
template <class Keys>
__device__ __forceinline__ bool comes_before(const Keys& keys, Word<Keys> mask, Word<Keys> at_j,
                                             std::int64_t j, Word<Keys> at_i, std::int64_t i) {
  const auto other = static_cast<Word<Keys>>(keys.rank(keys.ordered(at_j)) & mask);
  const auto own = static_cast<Word<Keys>>(keys.rank(keys.ordered(at_i)) & mask);
  return other < own || (other == own && j < i);
}

// Calls body(keys) with the Integers or Floats for keys of type T.
template <class T, class Body>
auto with_keys(bool descending, Body body) {
  using W = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                               std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  auto flip = static_cast<W>(descending ? ~W{0} : W{0});
  if constexpr (std::is_integral_v<T>) {
    constexpr W kSign = W{1} << (8 * sizeof(W) - 1);
    flip ^= std::is_signed_v<T> ? kSign : W{0};
    return body(Integers<W>{flip});
  } else {
    return body(Floats<W>{flip});
  }
}

} // namespace kg::sort
