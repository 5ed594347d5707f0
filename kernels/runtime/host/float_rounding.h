// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Correct rounding in any of CUDA's four modes, on a CPU that rounds to nearest even.
//
// The method is rounding to odd: an inexact result becomes the neighbour of the exact value whose
// last bit is 1. Such a result never looks like a tie or like an exact value of a narrower format.
// Narrowing it later, in any mode, therefore gives the exact value rounded once. Rounding to odd
// needs at least two more bits than the narrower format (Boldo and Melquiond, "Emulation of a FMA
// and correctly rounded sums: proved algorithms using rounding to odd", 2008): double has 53 bits,
// float 24, half 11, bfloat16 8.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace kg::host {

// The suffixes _rn, _rz, _rd and _ru of CUDA's functions.
enum class Rounding { nearest, zero, down, up };

// a + b rounded to odd. The sum must not overflow; sums of float products (below 2^257) do not.
inline double sum_to_odd(double a, double b) {
  const double sum = a + b;
  // Knuth's TwoSum: `error` is exactly (a + b) - sum.
  const double from_b = sum - a;
  const double error = (a - (sum - from_b)) + (b - from_b);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (!std::isfinite(sum) || error == 0 || (bits & 1) != 0) return sum;
  const bool grows = (error > 0) == (sum > 0);
  return std::bit_cast<double>(grows ? bits + 1 : bits - 1);
}

// An integer as a double, rounded to odd: exact up to 53 bits.
template <std::integral Int>
double integer_to_odd(Int value) {
  if constexpr (sizeof(Int) < 8) {
    return static_cast<double>(value);
  } else {
    const Int low = value & static_cast<Int>(0xffffffff);
    return sum_to_odd(static_cast<double>(value - low), static_cast<double>(low));
  }
}

// A double as a float, rounded to odd.
inline float narrow_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::fabs(back) > std::fabs(value))
    --bits; // towards zero; from infinity to the largest float
  return std::bit_cast<float>(bits | 1);
}

// A double rounded to a float.
template <Rounding mode>
float narrow(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (mode == Rounding::nearest || back == value || std::isnan(value)) return nearest;
  const bool grew = std::fabs(back) > std::fabs(value);
  const bool grow = mode != Rounding::zero && (mode == Rounding::up) == (value > 0);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (grow && !grew) ++bits;
  if (!grow && grew) --bits;
  return std::bit_cast<float>(bits);
}

// a + b rounded once, for floats and exact products of floats. An exact sum of 0 is -0 when
// rounding down, unless both are +0.
template <Rounding mode>
float rounded_sum(double a, double b) {
  const double sum = sum_to_odd(a, b);
  if (mode == Rounding::down && sum == 0 && std::signbit(a) != std::signbit(b)) return -0.0f;
  return narrow<mode>(sum);
}

// A floating-point value rounded to an integer, saturating at the type's limits. NaN gives 0, or
// just the result's highest bit if the source or the result has 64 bits (PTX ISA, "cvt").
template <std::integral Int, Rounding mode, std::floating_point Float>
Int to_integer(Float value) {
  using Limits = std::numeric_limits<Int>;
  using Unsigned = std::make_unsigned_t<Int>;
  constexpr Unsigned highest_bit = Unsigned{1} << (8 * sizeof(Int) - 1);
  constexpr Float end = static_cast<Float>(Unsigned{1} << (Limits::digits - 1)) * 2; // max + 1
  if (std::isnan(value)) {
    return static_cast<Int>(sizeof(Int) == 8 || sizeof(Float) == 8 ? highest_bit : Unsigned{0});
  }
  Float rounded = value;
  if constexpr (mode == Rounding::nearest) rounded = std::nearbyint(value);
  if constexpr (mode == Rounding::zero) rounded = std::trunc(value);
  if constexpr (mode == Rounding::down) rounded = std::floor(value);
  if constexpr (mode == Rounding::up) rounded = std::ceil(value);
  if (rounded >= end) return Limits::max();
  if (rounded < static_cast<Float>(Limits::min())) return Limits::min();
  return static_cast<Int>(rounded);
}

} // namespace kg::host
