// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/history/events.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::history {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Twenty runs of 100 ns, then twenty of 150 ns.
std::vector<Point> points() {
  std::vector<Point> result;
  for (int i = 0; i < 40; ++i) {
    Point point;
    point.date_utc = fmt::format("2026-02-{:02}T10:00:00Z", 1 + i / 2);
    point.source = fmt::format("{:02}abcdef0123456789", i);
    point.device = "nvidia-h200";
    point.machine = i < 35 ? "NVIDIA H200" : "NVIDIA H200 NVL";
    point.driver = i < 30 ? "570" : "580";
    point.median_ns = i < 20 ? 100 : 150;
    point.ci_lo_ns = point.median_ns - 1;
    point.ci_hi_ns = point.median_ns + 1;
    point.baseline_ns = i < 5 ? 0 : i < 25 ? 100 : 150;
    point.identity = i < 20 ? "a" : "b";
    result.push_back(point);
  }
  return result;
}
const Series kSeries = {"copy.f32.n64", "naive", "cold", "nvidia-h200"};

TEST(HistoryEvents, NameTheCommitAndTheCause) {
  const std::string text = plain_text(kSeries, points());
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("copy.f32.n64 naive cold, nvidia-h200: 40 runs, 2026-02-01 to "
                      "2026-02-20, now 150 ns"),
            HasSubstr("1.5x SLOWER from commit 20abcdef0123 on (2026-02-11): 100 ns -> 150 ns"),
            HasSubstr("baseline none -> 100 ns with commit 05abcdef0123"),
            HasSubstr("baseline 100 ns -> 150 ns with commit 25abcdef0123"),
            HasSubstr("driver 570 -> 580 with commit 30abcdef0123"),
            HasSubstr("machine NVIDIA H200 -> NVIDIA H200 NVL with commit 35abcdef0123"),
            HasSubstr("other machine code or launches with commit 20abcdef0123")));
  EXPECT_LT(text.find("SLOWER"), text.find("driver"));
}

TEST(HistoryEvents, FasterIsSaidSo) {
  auto reversed = points();
  for (Point& point : reversed) point.median_ns = 250 - point.median_ns;
  EXPECT_THAT(plain_text(kSeries, reversed), HasSubstr("1.5x faster from commit 20"));
}

TEST(HistoryEvents, UnknownCodeIsNoChange) {
  auto some = points();
  for (std::size_t i = 0; i < 20; ++i) some[i].identity = "";
  EXPECT_THAT(plain_text(kSeries, some), Not(HasSubstr("machine code")));
}

TEST(HistorySvg, DrawsEveryPointAndMarksEvents) {
  const std::string picture = svg({"copy<T>&", "naive", "cold", "d"}, points());
  EXPECT_THAT(picture, AllOf(testing::StartsWith("<svg"), HasSubstr("copy&lt;T&gt;&amp; naive"),
                             HasSubstr("<title>1.5x SLOWER"), Not(HasSubstr("nan"))));
  EXPECT_EQ(svg(kSeries, {}).find("nan"), std::string::npos);
}

} // namespace
} // namespace kg::history
