// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Keys as bits: what a key's place in the order is, as an unsigned number. Of positive floats it
// grows with their bits, of negative ones it shrinks (Herf, "Radix Tricks", 2001); integers begin
// at the least one.
#pragma once

#include "runtime/device_code.h"

#include <cstdint>
#include <type_traits>

namespace kg::sort {

inline constexpr int kDigitBits = 8;
inline constexpr int kDigits = 1 << kDigitBits;

template <class W, bool Float>
struct Key {
  using Word = W;
  static constexpr int kPasses = static_cast<int>(sizeof(W));
  static constexpr W kSign = static_cast<W>(W{1} << (8 * sizeof(W) - 1));
  static constexpr W kLast = static_cast<W>(~kSign); // nothing is behind it

  __device__ static W place(W bits) {
    if constexpr (Float) {
      if (bits == kSign) bits = 0; // -0
      return static_cast<W>((bits & kSign) != 0 ? ~bits : bits | kSign);
    } else {
      return static_cast<W>(bits ^ kSign);
    }
  }
  __device__ static int digit(W bits, int pass) {
    return static_cast<int>(place(bits) >> (pass * kDigitBits)) & (kDigits - 1);
  }
};

template <class K>
using Word = typename K::Word;

template <class T>
using KeyOf =
    std::conditional_t<sizeof(T) == 2, Key<std::uint16_t, true>,
                       std::conditional_t<std::is_same_v<T, std::int32_t>,
                                          Key<std::uint32_t, false>, Key<std::uint32_t, true>>>;

} // namespace kg::sort
