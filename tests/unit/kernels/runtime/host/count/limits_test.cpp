// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace kg::cost {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A launch with 2 barriers and one request of 32 sectors that could be 4.
std::vector<count::Launch> a_launch() {
  count::Site site;
  site.line = "a.cu:7";
  site.width = 4;
  site.requests = 1;
  site.lanes = 32;
  site.sectors = 32;
  site.least_sectors = 4;
  count::Launch launch;
  launch.sites = {site};
  launch.barriers = 2;
  return {launch};
}

TEST(Limits, HoldWhereTheValueIsEqualOrLess) {
  EXPECT_EQ(exceeded(a_launch(), {{"sectors_per_request", 32}, {"barriers", 3}}), "");
}

TEST(Limits, NameValuesLineAndHintOfWhatIsAbove) {
  EXPECT_EQ(exceeded(a_launch(), {{"barriers", 1}}), "barriers 1 -> 2\n");
  EXPECT_THAT(exceeded(a_launch(), {{"barriers", 2}, {"sectors_per_request", 31.5}}),
              StartsWith("sectors_per_request 31.5 -> 32, most of it at a.cu:7: uncoalesced read"));
}

TEST(Limits, ThatCompareNothingFail) {
  EXPECT_THAT(exceeded({}, {{"barriers", 9}}), HasSubstr("no launch"));
  EXPECT_THAT(exceeded(a_launch(), {}), HasSubstr("no limits"));
  EXPECT_THAT(exceeded(a_launch(), {{"bariers", 9}}), HasSubstr("'bariers'; there are"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(exceeded(a_launch(), {{"barriers", nan}}), "barriers nan -> 2\n");
}

} // namespace
} // namespace kg::cost
