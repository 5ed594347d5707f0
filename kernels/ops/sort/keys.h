// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys as bits: what a key's place in the order is, as an unsigned number. Kernels are compiled for
// words, not for types: what is between integers with a sign and those without is a number that
// they are told.
#pragma once

#include "runtime/device_code.h"

#include <cstdint>
#include <type_traits>

namespace kg::sort {

inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;

// Integers begin at the least one. `sign`: the sign's bit, 0 where there is none.
template <class W>
struct Integers {
  using Word = W;
  W sign;

  __device__ W place(W bits) const { return static_cast<W>(bits ^ sign); }
  __device__ W last() const { return static_cast<W>(~sign); } // nothing is behind it
};

// Of floats the magnitude counts upwards from the middle, or downwards where they are negative, so
// that both zeros have one place.
template <class W>
struct Floats {
  using Word = W;
  static constexpr int kSign = 8 * sizeof(W) - 1;

  __device__ W place(W bits) const {
    const auto negative = static_cast<W>(0 - (bits >> kSign)); // all ones, or 0
    const auto magnitude = static_cast<W>(bits & ~(W{1} << kSign));
    return static_cast<W>((magnitude ^ negative) - negative + (W{1} << kSign));
  }
  __device__ W last() const { return static_cast<W>(~(W{1} << kSign)); }
};

template <class Keys>
using Word = typename Keys::Word;
template <class Keys>
inline constexpr int kPasses = static_cast<int>(sizeof(Word<Keys>));

template <class Keys>
__device__ __forceinline__ int digit_of(const Keys& order, Word<Keys> bits, int pass) {
  return static_cast<int>(order.place(bits) >> (pass * kDigitBits)) & (kDigits - 1);
}

// Whether the key at j stands before that at i.
template <class Keys>
__device__ __forceinline__ bool comes_before(const Keys& order, Word<Keys> at_j, std::int64_t j,
                                             Word<Keys> at_i, std::int64_t i) {
  const Word<Keys> other = order.place(at_j), own = order.place(at_i);
  return other < own || (other == own && j < i);
}

// Calls body(keys) with what the keys of type T are.
template <class T, class Body>
auto with_keys(Body body) {
  if constexpr (std::is_integral_v<T>) {
    using W = std::make_unsigned_t<T>;
    constexpr int kSign = 8 * sizeof(W) - 1;
    return body(Integers<W>{std::is_signed_v<T> ? static_cast<W>(W{1} << kSign) : W{0}});
  } else {
    return body(Floats<std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>{});
  }
}

} // namespace kg::sort
