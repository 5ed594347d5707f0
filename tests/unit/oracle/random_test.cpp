// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/random.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace kg::test {
namespace {

// Known answers published with Random123 (Salmon et al., kat_vectors, philox4x32 with 10 rounds).
TEST(Random, philox_known_answers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, an_element_depends_on_seed_tensor_and_index_only) {
  const Random random(7, 3);
  const double late = random.normal(12345678901234);
  EXPECT_EQ(Random(7, 3).normal(12345678901234), late);
  EXPECT_NE(Random(8, 3).normal(12345678901234), late);
  EXPECT_NE(Random(7, 4).normal(12345678901234), late);
  EXPECT_NE(Random(7 + (std::uint64_t{1} << 32), 3).normal(12345678901234), late);
  EXPECT_NE(random.normal(12345678901235), late);
}

TEST(Random, integers_fill_their_range_evenly) {
  const Random random(1, 1);
  std::array<int, 7> seen{};
  constexpr int kDraws = 70000;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const std::int64_t value = random.integer(i, -3, 3);
    ASSERT_TRUE(value >= -3 && value <= 3);
    ++seen[static_cast<std::size_t>(value + 3)];
  }
  // Six deviations of a binomial count around 10000.
  for (const int count : seen) EXPECT_NEAR(count, kDraws / 7, 6 * std::sqrt(kDraws * 6.0 / 49));
  EXPECT_EQ(random.integer(5, 9, 9), 9);
  // Wide ranges: both halves of the word are used.
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  std::set<std::int64_t> upper;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::int64_t value = random.integer(i, -kHuge, kHuge);
    ASSERT_TRUE(value >= -kHuge && value <= kHuge);
    upper.insert(value >> 54);
  }
  EXPECT_GT(upper.size(), 400u);
}

// Mean, variance and fourth moment of the distributions, within six standard errors.
TEST(Random, moments_of_uniform_and_normal) {
  const Random random(2, 9);
  constexpr int kDraws = 200000;
  double uniform = 0, uniform2 = 0, normal = 0, normal2 = 0, normal4 = 0, signs = 0, chances = 0;
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double u = random.uniform(i);
    ASSERT_TRUE(u >= -1 && u < 1);
    ASSERT_TRUE(random.positive(i) > 0 && random.positive(i) <= 1);
    const double z = random.normal(i);
    uniform += u;
    uniform2 += u * u;
    normal += z;
    normal2 += z * z;
    normal4 += z * z * z * z;
    signs += random.sign(i);
    chances += random.chance(i, 0.25) ? 1 : 0;
  }
  const double error = 6 / std::sqrt(static_cast<double>(kDraws));
  EXPECT_NEAR(uniform / kDraws, 0, error * std::sqrt(1.0 / 3));
  EXPECT_NEAR(uniform2 / kDraws, 1.0 / 3, error * std::sqrt(4.0 / 45));
  EXPECT_NEAR(normal / kDraws, 0, error);
  EXPECT_NEAR(normal2 / kDraws, 1, error * std::sqrt(2.0));
  EXPECT_NEAR(normal4 / kDraws, 3, error * std::sqrt(96.0));
  EXPECT_NEAR(signs / kDraws, 0, error);
  EXPECT_NEAR(chances / kDraws, 0.25, error * std::sqrt(0.1875));
}

TEST(Random, seed_text) {
  EXPECT_EQ(parse_seed(""), parse_seed(""));
  EXPECT_EQ(parse_seed("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_NE(parse_seed("random"), parse_seed("random"));
  for (const char* bad : {"-1", "0x10", "12 ", "18446744073709551616", "seed"})
    EXPECT_THROW(parse_seed(bad), Error) << bad;
}

} // namespace
} // namespace kg::test
