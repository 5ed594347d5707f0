// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/row_history.h"

#include "tests/unit/perf/report/row_histories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::report {
namespace {

using testing::ElementsAre;

TEST(RowHistory, ThreePlantedChangesAreNamedAmongTwoHundredCommits) {
  const nlohmann::json all = to_json(test::histories().history);
  EXPECT_EQ(all["runs"].size(), 200u);
  EXPECT_EQ(all["runs"][60]["source"], "060abcdef0123456789");
  const nlohmann::json& row = all["rows"][0];
  EXPECT_EQ(row["case"], "copy.f32.n64");
  EXPECT_EQ(row["points"].size(), 200u);
  std::vector<std::string> found;
  for (const nlohmann::json& event : row["events"])
    found.push_back(event["kind"].get<std::string>() + " " +
                    std::to_string(event["at"].get<int>()));
  EXPECT_THAT(found, ElementsAre("baseline 20", "machine 40", "slower 60", "driver 100",
                                 "slower 120", "baseline 130", "faster 160"));
}

TEST(RowHistory, PointsAreCompact) {
  const nlohmann::json all = to_json(test::histories().history);
  const nlohmann::json& point = all["rows"][1]["points"][20];
  ASSERT_EQ(point.size(), 5u);
  EXPECT_EQ(point[0], 20);
  EXPECT_EQ(point[2], 0.98 * point[1].get<double>());
  EXPECT_EQ(point[4], 100);
}

// A run that lacks a row moves none of the others.
TEST(RowHistory, RowsMayLackRuns) {
  RowHistory some = test::row_history("a", {100, 101, 102}),
             few = test::row_history("b", {7, 8, 9});
  few.points.erase(few.points.begin() + 1);
  const nlohmann::json all = to_json({{some, few}, 0});
  EXPECT_EQ(all["runs"].size(), 3u);
  EXPECT_EQ(all["rows"][1]["points"][1][0], 2);
  EXPECT_EQ(all["rows"][1]["points"][1][1], 9);
}

TEST(RowHistory, TheNewestChangeOfLevelComesFirst) {
  const auto flat = [](const char* id) {
    return test::row_history(id, std::vector<double>(30, 100));
  };
  const auto step = [](const char* id, std::size_t at) {
    std::vector<double> times(30, 100);
    for (std::size_t i = at; i < times.size(); ++i) times[i] = 150;
    return test::row_history(id, times);
  };
  const History found =
      newest_changes_first({flat("d"), step("b", 8), flat("c"), step("a", 12)}, 3);
  std::vector<std::string> order;
  for (const RowHistory& row : found.rows) order.push_back(row.series.case_id);
  EXPECT_THAT(order, ElementsAre("a", "b", "c"));
  EXPECT_EQ(found.left_out, 1u);
}

} // namespace
} // namespace kg::report
