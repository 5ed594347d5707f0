// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/history/change_points.h"

#include "runtime/error.h"
#include "tests/unit/perf/lab/history/planted.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::history {
namespace {

using test::series;

std::vector<std::size_t> places(const std::vector<ChangePoint>& changes) {
  std::vector<std::size_t> found;
  for (const ChangePoint& change : changes) found.push_back(change.at);
  return found;
}

TEST(ChangePoints, ThreePlantedOnesAreFoundAmongTwoHundredRuns) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto found =
        change_points(series(200, {{60, 1.10}, {120, 1.25}, {160, 0.9}}, 0.01, 1.5, seed));
    ASSERT_EQ(found.size(), 3u) << testing::PrintToString(places(found));
    const std::size_t expected[] = {60, 120, 160};
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(static_cast<double>(found[i].at), static_cast<double>(expected[i]), 1.0);
    EXPECT_NEAR(found[0].before, 100, 1);
    EXPECT_NEAR(found[0].after, 110, 1);
    EXPECT_NEAR(found[2].after, 90, 1);
  }
}

TEST(ChangePoints, NoiseAndOutliersAreNone) {
  std::size_t found = 0;
  for (unsigned seed = 1; seed <= 50; ++seed)
    found += change_points(series(200, {}, 0.03, 2, seed)).size();
  EXPECT_EQ(found, 0u) << "in 50 series";
}

TEST(ChangePoints, TwoSlowRunsAreNoChange) {
  std::vector<double> values(40, 100);
  values[20] = values[21] = 150;
  EXPECT_TRUE(change_points(values).empty());
  for (std::size_t i = 20; i < 25; ++i) values[i] = 150;
  EXPECT_EQ(places(change_points(values)), (std::vector<std::size_t>{20, 25}));
}

TEST(ChangePoints, SmallStepsAreOfNoInterest) {
  std::vector<double> values(40, 100);
  for (std::size_t i = 20; i < 40; ++i) values[i] = 101;
  EXPECT_TRUE(change_points(values).empty());
  for (std::size_t i = 20; i < 40; ++i) values[i] = 103;
  EXPECT_EQ(places(change_points(values)), std::vector<std::size_t>{20});
}

TEST(ChangePoints, TooShortASeriesHasNone) {
  EXPECT_TRUE(change_points({}).empty());
  std::vector<double> values = {1, 1, 1, 1, 9, 9, 9, 9, 9};
  EXPECT_TRUE(change_points(values).empty());
  values.insert(values.begin(), 1);
  EXPECT_EQ(places(change_points(values)), std::vector<std::size_t>{5});
}

TEST(ChangePoints, TimesMustBePositive) {
  EXPECT_THROW(change_points(std::vector<double>{1, 0}), Error);
  EXPECT_THROW(change_points(std::vector<double>{NAN}), Error);
}

} // namespace
} // namespace kg::history
