// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/pattern.h"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/oracle/strided.h"

namespace kg::test {
namespace {

// The hint for all elements whose coordinates satisfy the predicate.
std::string hint(const std::vector<std::int64_t>& shape,
                 const std::function<bool(const std::vector<std::int64_t>&)>& wrong) {
  std::vector<std::int64_t> failures;
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    if (wrong(coordinates(i, shape))) failures.push_back(i);
  return pattern_hint(failures, shape);
}

std::string hint_2d(std::int64_t rows, std::int64_t columns,
                    const std::function<bool(std::int64_t, std::int64_t)>& wrong) {
  return hint({rows, columns}, [&](const auto& at) { return wrong(at[0], at[1]); });
}

std::string hint_1d(std::int64_t extent, const std::function<bool(std::int64_t)>& wrong) {
  return hint({extent}, [&](const auto& at) { return wrong(at[0]); });
}

TEST(Pattern, everything_and_single_elements) {
  EXPECT_EQ(hint_2d(8, 8, [](auto, auto) { return false; }), "");
  EXPECT_EQ(hint_2d(8, 8, [](auto, auto) { return true; }),
            "every element: a scale, a missing slice of the sum or nothing written");
  EXPECT_EQ(hint_2d(8, 8, [](auto i, auto j) { return i == 3 && j == 5; }),
            "a single element, (3, 5)");
}

TEST(Pattern, rows_columns_and_tails) {
  EXPECT_EQ(hint_2d(64, 100, [](auto i, auto) { return i == 7; }), "all in row 7");
  EXPECT_EQ(hint_2d(64, 100, [](auto i, auto j) { return i == 7 && j % 3 != 0; }), "all in row 7");
  EXPECT_EQ(hint_2d(64, 100, [](auto, auto j) { return j >= 96; }), "all in columns >= 96");
  EXPECT_EQ(hint_2d(64, 100, [](auto i, auto) { return i < 5; }), "all in rows <= 4");
  EXPECT_EQ(hint_2d(64, 100, [](auto i, auto j) { return i == 63 && j >= 90; }),
            "all in row 63, columns >= 90");
  EXPECT_EQ(hint_1d(1000, [](auto i) { return i >= 960; }), "all in index >= 960");
}

TEST(Pattern, periods) {
  EXPECT_EQ(hint_1d(1024, [](auto i) { return i % 32 == 31; }), "all in index % 32 == 31");
  EXPECT_EQ(hint_2d(256, 256, [](auto, auto j) { return j % 16 == 3; }), "all in column % 16 == 3");
  EXPECT_EQ(hint_2d(256, 256, [](auto i, auto j) { return i % 4 == 1 && j == 9; }),
            "all in row % 4 == 1, column 9");
}

TEST(Pattern, tiles) {
  const auto in = [](std::int64_t x, std::int64_t low, std::int64_t size) {
    return x >= low && x < low + size;
  };
  EXPECT_EQ(hint_2d(96, 128, [&](auto i, auto j) { return in(i, 32, 16) && in(j, 48, 16); }),
            "all in one 16x16 tile at (32, 48)");
  EXPECT_EQ(hint_2d(96, 128, [&](auto i, auto j) { return in(i, 64, 32) && in(j, 96, 32); }),
            "all in one 32x32 tile at (64, 96)");
  EXPECT_EQ(
      hint({4, 64, 64},
           [&](const auto& at) { return at[0] == 2 && in(at[1], 16, 16) && in(at[2], 0, 16); }),
      "all in one 16x16 tile at (16, 0), dimension 0 2");
}

TEST(Pattern, batches_of_higher_rank) {
  EXPECT_EQ(hint({4, 6, 10}, [](const auto& at) { return at[0] > 0; }), "all in dimension 0 >= 1");
}

TEST(Pattern, strays_have_none) {
  EXPECT_EQ(hint_1d(1000, [](auto i) { return i == 17 || i == 500 || i == 999; }),
            "no common row, column, tile or period");
  EXPECT_EQ(hint_1d(1000, [](auto i) { return i == 17 || i == 500 || i == 733; }),
            "no common row, column, tile or period");
  EXPECT_EQ(hint_2d(200, 200, [](auto i, auto j) { return (i * 7919 + j * 104729) % 101 == 0; }),
            "no common row, column, tile or period");
}

} // namespace
} // namespace kg::test
