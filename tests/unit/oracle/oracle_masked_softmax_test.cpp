// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_masked_softmax.h"

#include <cmath>

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;
using Keep = std::vector<std::uint8_t>;

TEST(MaskedSoftmaxOracle, known_answers) {
  const SoftmaxOracle oracle =
      masked_softmax_oracle(0.5, Values{2, 2 + 2 * std::log(3), 99, 99}, Keep{1, 200, 0, 0}, 2, 2);
  EXPECT_NEAR(oracle.value[0], 0.25, 1e-15);
  EXPECT_NEAR(oracle.value[1], 0.75, 1e-15);
  EXPECT_NEAR(oracle.distance[0], std::log(3), 1e-15);
  EXPECT_EQ(oracle.value[2], 0);
  EXPECT_EQ(oracle.value[3], 0);
  EXPECT_EQ(oracle.distance[3], kInfinity);
}

TEST(MaskedSoftmaxOracle, sees_only_what_is_kept) {
  const double nan = std::nan("");
  EXPECT_EQ(masked_softmax_oracle(1, Values{nan, 5}, Keep{0, 1}, 1, 2).value, (Values{0, 1}));
  EXPECT_TRUE(std::isnan(masked_softmax_oracle(1, Values{nan, 5}, Keep{1, 1}, 1, 2).value[1]));
  EXPECT_TRUE(std::isnan(masked_softmax_oracle(1, Values{nan, 5}, Keep{1, 0}, 1, 2).value[1]));
  EXPECT_EQ(masked_softmax_oracle(1, Values{-kInfinity, 5}, Keep{1, 0}, 1, 2).value,
            (Values{0, 0}));
  EXPECT_TRUE(masked_softmax_oracle(1, {}, {}, 4, 0).value.empty());
  EXPECT_THROW(masked_softmax_oracle(1, Values{1}, {}, 1, 1), Error);
}

TEST(MaskedSoftmaxOracle, causal_masks_are_aligned_at_the_last_query) {
  EXPECT_EQ(causal_keep(4, 3, 2), (Keep{1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1}));
  EXPECT_EQ(causal_keep(3, 1, 3), (Keep{0, 0, 1}));
  EXPECT_EQ(causal_keep(1, 3, 1), (Keep{1, 1, 1}));
}

} // namespace
} // namespace kg::test
