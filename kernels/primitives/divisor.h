// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Division by a divisor that is known before the launch, for index arithmetic: a multiplication, an
// addition and a shift, instead of about a hundred instructions for a 64-bit integer division.
// Granlund and Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994, for
// dividends below 2^63, where the addition cannot overflow. NarrowDivisor is the 32-bit form, in
// three instructions.
#pragma once

#include "runtime/device_code.h"

#include <bit>
#include <cstdint>

namespace kg {

struct Divisor {
  std::int64_t value = 1;
  std::uint64_t multiplier = 1; // floor(2^64 (2^shift - value) / value) + 1
  int shift = 0;                // log2(value), rounded up

  Divisor() = default;

  // value >= 1
  explicit Divisor(std::int64_t divisor)
      : value(divisor), shift(std::bit_width(static_cast<std::uint64_t>(divisor) - 1)) {
    // Long division; the remainder stays below value <= 2^63 and can be doubled.
    const auto by = static_cast<std::uint64_t>(value);
    std::uint64_t remainder = (std::uint64_t{1} << shift) - by;
    std::uint64_t quotient = 0;
    for (int bit = 0; bit < 64; ++bit) {
      remainder *= 2;
      quotient *= 2;
      if (remainder >= by) {
        remainder -= by;
        ++quotient;
      }
    }
    multiplier = quotient + 1;
  }

  // dividend / value; dividend >= 0
  __device__ std::int64_t quotient(std::int64_t dividend) const {
    const auto n = static_cast<std::uint64_t>(dividend);
    return static_cast<std::int64_t>((__umul64hi(n, multiplier) + n) >> shift);
  }
};

// The 32-bit form. take_last requires dividends below 2^31, such as block indices.
struct NarrowDivisor {
  std::uint32_t value = 1;
  std::uint32_t multiplier = 1; // floor(2^32 (2^shift - value) / value) + 1
  int shift = 0;                // log2(value), rounded up

  NarrowDivisor() = default;

  // 1 <= value < 2^31
  explicit NarrowDivisor(std::int64_t divisor)
      : value(static_cast<std::uint32_t>(divisor)), shift(std::bit_width(value - 1)) {
    const std::uint64_t excess = (std::uint64_t{1} << shift) - value;
    multiplier = static_cast<std::uint32_t>((excess << 32) / value + 1);
  }

  // dividend / value for any dividend: the sum has 33 bits.
  __device__ std::uint32_t quotient(std::uint32_t dividend) const {
    const std::uint64_t sum = std::uint64_t{__umulhi(dividend, multiplier)} + dividend;
    return static_cast<std::uint32_t>(sum >> shift);
  }

  // Splits the linear index `place`: returns the index along a last axis of this extent, and leaves
  // the linear index of the remaining axes in `place`.
  __device__ std::uint32_t take_last(std::uint32_t& place) const {
    const std::uint32_t before = (__umulhi(place, multiplier) + place) >> shift;
    const std::uint32_t index = place - before * value;
    place = before;
    return index;
  }
};

} // namespace kg
