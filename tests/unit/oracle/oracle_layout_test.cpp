// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_layout.h"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/oracle/oracle.h"

namespace kg::test {
namespace {

std::vector<int> counting(std::int64_t n) {
  std::vector<int> values(static_cast<std::size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(LayoutOracle, two_axes_are_a_transposition) {
  EXPECT_EQ(permute_oracle(counting(15), {3, 5}, {1, 0}), transpose_oracle(counting(15), 3, 5));
}

TEST(LayoutOracle, channels_move_behind_the_image) {
  // x[n][c][h][w], with n = 1, c = 2, h = 2, w = 3.
  const std::vector<int> expected = {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11};
  EXPECT_EQ(permute_oracle(counting(12), {1, 2, 2, 3}, {0, 2, 3, 1}), expected);
}

TEST(LayoutOracle, three_axes_turn_in_a_circle) {
  // y[k][i][j] = x[i][j][k]
  const std::vector<int> expected = {0, 2, 4, 6, 1, 3, 5, 7};
  EXPECT_EQ(permute_oracle(counting(8), {2, 2, 2}, {2, 0, 1}), expected);
}

} // namespace
} // namespace kg::test
