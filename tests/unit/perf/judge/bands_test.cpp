// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/bands.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace kg::judge {
namespace {

double just_below(double value) { return std::nextafter(value, -1.0); }

TEST(Bands, EachBorderBelongsToTheBetterGrade) {
  EXPECT_EQ(grade(0.90), Grade::excellent);
  EXPECT_EQ(grade(just_below(0.90)), Grade::good);
  EXPECT_EQ(grade(0.70), Grade::good);
  EXPECT_EQ(grade(just_below(0.70)), Grade::fair);
  EXPECT_EQ(grade(0.50), Grade::fair);
  EXPECT_EQ(grade(just_below(0.50)), Grade::poor);
  EXPECT_EQ(grade(0.20), Grade::poor);
  EXPECT_EQ(grade(just_below(0.20)), Grade::critical);
}

TEST(Bands, ExtremesAndNonsense) {
  EXPECT_EQ(grade(std::numeric_limits<double>::infinity()), Grade::excellent);
  EXPECT_EQ(grade(0), Grade::critical);
  EXPECT_EQ(grade(-1), Grade::critical);
  EXPECT_EQ(grade(std::nan("")), Grade::critical);
}

TEST(Bands, NamesAreThoseOfTheDesign) {
  EXPECT_EQ(name(Grade::excellent), "excellent");
  EXPECT_EQ(name(Grade::good), "good");
  EXPECT_EQ(name(Grade::fair), "fair");
  EXPECT_EQ(name(Grade::poor), "poor");
  EXPECT_EQ(name(Grade::critical), "critical");
}

TEST(Bands, CostRatioOfNothing) {
  EXPECT_EQ(cost_ratio(0, 0), 1.0);
  EXPECT_EQ(cost_ratio(0, 3), 0.0);
  EXPECT_EQ(cost_ratio(3, 0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(cost_ratio(3, 4), 0.75);
}

} // namespace
} // namespace kg::judge
