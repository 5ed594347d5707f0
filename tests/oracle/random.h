// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Counter-based random numbers: an element is a pure function of seed, `tensor` and `index`, so any
// element can be regenerated in any order on any machine. Philox4x32-10: Salmon, Moraes, Dror,
// Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace kg::test {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// One block of Philox4x32 with ten rounds.
constexpr PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  // The key schedule is a Weyl sequence: the golden ratio and sqrt(3) - 1, in 32 bits.
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

// The random numbers of one tensor. Each element owns one Philox block, i.e. two independent 64-bit
// words: `uniform` and `integer` use the first, `chance` and `sign` the second (chance its upper,
// sign its lowest bit), `normal` both.
class Random {
 public:
  constexpr Random(std::uint64_t seed, std::uint64_t tensor) : seed_(seed), tensor_(tensor) {}

  // Uniform on the integers of [low, high]; low <= high. The relative bias is below (high - low +
  // 1) / 2^64.
  constexpr std::int64_t integer(std::uint64_t index, std::int64_t low, std::int64_t high) const {
    const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    const std::uint64_t word = first(index);
    if (range == 0) return static_cast<std::int64_t>(word);
    // The upper half of word * range, in 32-bit steps; __int128 is not standard C++.
    const std::uint64_t low_part = (word & 0xFFFFFFFF) * (range & 0xFFFFFFFF);
    const std::uint64_t middle_a = (word >> 32) * (range & 0xFFFFFFFF) + (low_part >> 32);
    const std::uint64_t middle_b = (word & 0xFFFFFFFF) * (range >> 32) + (middle_a & 0xFFFFFFFF);
    const std::uint64_t high_part =
        (word >> 32) * (range >> 32) + (middle_a >> 32) + (middle_b >> 32);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + high_part);
  }

  // Uniform on [-1, 1), a multiple of 2^-52.
  constexpr double uniform(std::uint64_t index) const { return 2 * unit(first(index)) - 1; }

  // Uniform on (0, 1], a multiple of 2^-53.
  constexpr double positive(std::uint64_t index) const { return 1 - unit(first(index)); }

  // Standard normal by Box and Muller (1958): sqrt(-2 ln u) cos(2 pi v), u in (0, 1].
  double normal(std::uint64_t index) const {
    const double radius = std::sqrt(-2 * std::log(1 - unit(first(index))));
    return radius * std::cos(2 * std::numbers::pi * unit(second(index)));
  }

  // +1 or -1.
  constexpr int sign(std::uint64_t index) const { return (second(index) & 1) != 0 ? 1 : -1; }

  // True with this probability.
  constexpr bool chance(std::uint64_t index, double probability) const {
    return unit(second(index)) < probability;
  }

 private:
  constexpr PhiloxBlock block(std::uint64_t index) const {
    return philox({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                   static_cast<std::uint32_t>(tensor_), static_cast<std::uint32_t>(tensor_ >> 32)},
                  {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
  }
  constexpr std::uint64_t first(std::uint64_t index) const {
    const PhiloxBlock words = block(index);
    return std::uint64_t{words[1]} << 32 | words[0];
  }
  constexpr std::uint64_t second(std::uint64_t index) const {
    const PhiloxBlock words = block(index);
    return std::uint64_t{words[3]} << 32 | words[2];
  }
  // [0, 1) from the upper 53 bits.
  static constexpr double unit(std::uint64_t word) {
    return static_cast<double>(word >> 11) * 0x1p-53;
  }

  std::uint64_t seed_;
  std::uint64_t tensor_;
};

// Parses KERNELGRADE_SEED: a decimal number below 2^64; `random` draws a new seed; empty selects
// the fixed default, so plain runs are reproducible. Throws kg::Error for anything else.
std::uint64_t parse_seed(std::string_view text);

// The seed of this process, from KERNELGRADE_SEED, read once.
std::uint64_t seed();

} // namespace kg::test
