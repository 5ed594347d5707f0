// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle_reduction_backward.h"

#include <gtest/gtest.h>

#include "tests/oracle/numbers.h"

namespace kg::test {
namespace {

using Values = std::vector<double>;

TEST(ReductionBackwardOracle, SharesReachTheWholeAxis) {
  EXPECT_EQ(shared_gradient_oracle(Values{1, 2, 3, 4}, {2, 3, 2}, 1),
            (Values{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4}));
  EXPECT_EQ(shared_gradient_oracle(Values{3, 6}, {2, 3, 1}, 3), (Values{1, 1, 1, 2, 2, 2}));
  EXPECT_TRUE(shared_gradient_oracle(Values{3}, {1, 0, 1}, 1).empty());
}

TEST(ReductionBackwardOracle, TheFirstExtremumTakesAll) {
  const Values x = {5, 1, 7, 1, 7, 0}; // columns 5 7 7 and 1 1 0
  EXPECT_EQ(extremum_gradient_oracle(x, Values{2, 3}, {1, 3, 2}, true), (Values{0, 3, 2, 0, 0, 0}));
  EXPECT_EQ(extremum_gradient_oracle(x, Values{2, 3}, {1, 3, 2}, false),
            (Values{2, 0, 0, 0, 0, 3}));
  EXPECT_EQ(extremum_gradient_oracle(x, Values{2, 3}, {2, 3, 1}, true), (Values{0, 0, 2, 0, 3, 0}));
}

TEST(ReductionBackwardOracle, TheFirstNanIsTheExtremum) {
  for (const bool largest : {true, false})
    EXPECT_EQ(extremum_gradient_oracle(Values{9, kNan, -9, kNan}, Values{4}, {1, 4, 1}, largest),
              (Values{0, 4, 0, 0}));
}

} // namespace
} // namespace kg::test
