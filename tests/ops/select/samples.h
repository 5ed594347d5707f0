// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which elements of the problems are kept: four of every eight, in one of several patterns, so that
// their number and origin are known without counting; and two of every four, so that every 32-byte
// sector contains some, for any element size.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace kg::card::select_samples {

// The period of the patterns: a prime number of eights.
constexpr std::int64_t kPeriod = 8 * 131'071;

constexpr unsigned pattern_of(std::int64_t eight) {
  constexpr std::array<unsigned, 8> kPatterns = {0x33, 0xCC, 0x55, 0xAA, 0x3C, 0xC3, 0x96, 0x69};
  const auto number = static_cast<std::uint64_t>(eight % (kPeriod / 8));
  return kPatterns[number * 0x9E3779B97F4A7C15u >> 61];
}

constexpr bool is_kept(std::int64_t i) { return (pattern_of(i / 8) >> i % 8 & 1u) != 0; }
static_assert(is_kept(0)); // the first of a run is always kept

// The number kept of the first n.
constexpr std::int64_t kept_of(std::int64_t n) {
  return n / 8 * 4 + std::popcount(pattern_of(n / 8) & ((1u << n % 8) - 1));
}

// The position of the kept element with this number.
constexpr std::int64_t place_of_kept(std::int64_t number) {
  unsigned rest = pattern_of(number / 4);
  for (std::int64_t i = 0; i < number % 4; ++i) rest &= rest - 1;
  return number / 4 * 8 + std::countr_zero(rest);
}

} // namespace kg::card::select_samples
