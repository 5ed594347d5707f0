// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/timing_model/agreement.h"

#include "runtime/error.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace kg::model {
namespace {

std::vector<double> times(std::size_t rows) {
  std::vector<double> values(rows);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Agreement, MedianErrorIsAFactorEitherWay) {
  const Agreement found = agreement({2, 1, 8}, {1, 2, 1}); // twice, half, eight times
  EXPECT_EQ(found.rows, 3u);
  EXPECT_DOUBLE_EQ(found.median_log_error, std::log(2));
  EXPECT_THAT(text(found), testing::HasSubstr("a factor of 2.00"));
}

TEST(Agreement, FiftyRowsOfTheSameOrderAreShown) {
  const Agreement found = agreement(times(50), times(50));
  EXPECT_EQ(found.correlation, 1);
  EXPECT_TRUE(found.shown);
  EXPECT_THAT(text(found), testing::Not(testing::HasSubstr("not shown")));
}

TEST(Agreement, FortyNineRowsAreNot) {
  EXPECT_FALSE(agreement(times(49), times(49)).shown);
  EXPECT_THAT(text(agreement(times(49), times(49))),
              testing::HasSubstr("not shown in reports: below 0.8 or fewer than 50 rows"));
}

TEST(Agreement, AnotherOrderIsNot) {
  std::vector<double> reversed = times(50);
  std::reverse(reversed.begin(), reversed.end());
  const Agreement found = agreement(times(50), reversed);
  EXPECT_EQ(found.correlation, -1);
  EXPECT_FALSE(found.shown);
  // All alike: there is no order.
  EXPECT_FALSE(agreement(std::vector<double>(50, 1.0), times(50)).shown);
}

TEST(Agreement, FewRowsSayNothing) {
  EXPECT_TRUE(std::isnan(agreement({}, {}).correlation));
  EXPECT_TRUE(std::isnan(agreement({}, {}).median_log_error));
  EXPECT_FALSE(agreement({1}, {1}).shown);
}

TEST(Agreement, TimesArePairedAndPositive) {
  EXPECT_THROW(agreement({1}, {1, 2}), Error);
  EXPECT_THROW(agreement({0}, {1}), Error);
}

} // namespace
} // namespace kg::model
