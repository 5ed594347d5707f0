// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Division by a number that the host knows before the launch, as threads need it to find their
// coordinates: a multiplication, an addition and a shift where a GPU takes about a hundred
// instructions to divide 64-bit integers. After Granlund and Montgomery, "Division by Invariant
// Integers using Multiplication", PLDI 1994, for dividends below 2^63, whose addition cannot
// overflow.
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

} // namespace kg
