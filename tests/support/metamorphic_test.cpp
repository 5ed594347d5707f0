// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/metamorphic.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace kg::test {
namespace {

using Row = std::vector<float>;

TEST(Metamorphic, permutations_leave_nothing_in_place) {
  EXPECT_TRUE(permutation(0).empty());
  EXPECT_EQ(permutation(1), std::vector<std::int64_t>{0});
  for (const std::int64_t n : {2, 3, 100}) {
    std::vector<std::int64_t> order = permutation(n, 5);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_NE(order[static_cast<std::size_t>(i)], i);
    std::sort(order.begin(), order.end());
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
  }
  EXPECT_NE(permutation(100, 5), permutation(100, 6));
}

TEST(Metamorphic, rows_and_columns_move) {
  const Row x = {1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> rows = {1, 0}, columns = {2, 0, 1};
  EXPECT_EQ(permuted_rows(x, rows), (Row{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(permuted_columns(x, columns), (Row{3, 1, 2, 6, 4, 5}));
  EXPECT_EQ(scaled({3, -0.5}, -2), (std::vector<double>{0.75, -0.125}));
}

TEST(Metamorphic, one_bit_breaks_a_relation) {
  EXPECT_TRUE(same_bits("x = x", Row{1, 2}, Row{1, 2}));
  EXPECT_FALSE(same_bits("x = x", Row{1}, Row{1, 2}));
  EXPECT_FALSE(same_bits("x = x", Row{0}, Row{-0.0F}));
  const auto result = same_bits("x y = y x", Row{1, 2, 4}, Row{1, 3, 5});
  EXPECT_STREQ(result.message(), "x y = y x does not hold, first at element 1: 2 and 3");
}

TEST(Metamorphic, a_change_stays_in_its_row) {
  const Row before = {1, 2, 3, 4, 5, 6};
  EXPECT_TRUE(only_row_differs(before, Row{1, 2, 9, 4, 5, 6}, 2, 1));
  EXPECT_FALSE(only_row_differs(before, Row{1, 2, 9, 4, 5, 7}, 2, 1));
  EXPECT_STREQ(only_row_differs(before, before, 2, 1).message(), "a change in row 1 has no effect");
}

} // namespace
} // namespace kg::test
