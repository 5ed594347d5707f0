// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Profiles of invented activities.
#include "perf/lab/profile/profile.h"

#include "perf/lab/profile/text.h"
#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kg::profile {
namespace {

using Kind = Activity::Kind;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const judge::RowKey kKey = {"op.f32.n1", "plain", judge::Mode::real};

// Two runs of 100 and 140 ns. In each a kernel `slow` and two of `fast`, in one of them a fill.
Trace two_runs() {
  return {{{Kind::kernel, "slow", 10, 40},
           {Kind::kernel, "fast", 55, 5},
           {Kind::kernel, "fast", 60, 15},
           {Kind::kernel, "slow", 110, 60},
           {Kind::kernel, "fast", 175, 5},
           {Kind::kernel, "fast", 180, 5},
           {Kind::fill, "fill", 190, 10},
           {Kind::call, "launch", 0, 500},
           {Kind::call, "launch", 500, 100}},
          0};
}
const std::vector<double> kWalls = {100, 140};

TEST(Profile, CountsAndTimesPerRun) {
  const RowProfile row = aggregate(kKey, kWalls, two_runs());
  EXPECT_EQ(row.runs, 2u);
  EXPECT_EQ(row.wall_ns, 120);
  EXPECT_EQ(row.wall_min_ns, 100);
  EXPECT_EQ(row.wall_max_ns, 140);
  EXPECT_EQ(row.device_ns, 70); // (40 + 5 + 15 + 60 + 5 + 5 + 10) / 2
  EXPECT_EQ(row.host_ns(), 50);
  ASSERT_EQ(row.device.size(), 3u);
  EXPECT_EQ(row.device[0].name, "slow");
  EXPECT_EQ(row.device[0].launches, 1);
  EXPECT_EQ(row.device[0].total_ns, 50);
  EXPECT_DOUBLE_EQ(row.device[0].share, 50.0 / 70);
  EXPECT_EQ(row.device[1].name, "fast");
  EXPECT_EQ(row.device[1].launches, 2);
  EXPECT_EQ(row.device[1].total_ns, 15);
  EXPECT_EQ(row.device[1].mean_ns(), 7.5);
  EXPECT_EQ(row.device[1].min_ns, 5);
  EXPECT_EQ(row.device[1].max_ns, 15);
  EXPECT_EQ(row.device[2].kind, Kind::fill);
  EXPECT_EQ(row.device[2].launches, 0.5);
}

TEST(Profile, CallsAreNoDeviceTime) {
  const RowProfile row = aggregate(kKey, kWalls, two_runs());
  ASSERT_EQ(row.calls.size(), 1u);
  EXPECT_EQ(row.calls[0].launches, 1);
  EXPECT_EQ(row.calls[0].total_ns, 300);
  EXPECT_EQ(row.calls[0].share, 0);
}

TEST(Profile, KernelsThatOverlapKeepTheDeviceBusyOnce) {
  const Trace trace = {
      {{Kind::kernel, "b", 5, 10}, {Kind::kernel, "a", 0, 30}, {Kind::kernel, "c", 20, 20}}, 0};
  const RowProfile row = aggregate(kKey, std::vector<double>{50}, trace);
  EXPECT_EQ(row.device_ns, 40); // 0 to 40
  EXPECT_EQ(row.device[0].total_ns + row.device[1].total_ns + row.device[2].total_ns, 60);
}

TEST(Profile, WithoutKernelsAllIsHostTime) {
  const RowProfile row = aggregate(kKey, kWalls, {});
  EXPECT_EQ(row.device_ns, 0);
  EXPECT_EQ(row.host_ns(), 120);
  EXPECT_THAT(plain_text(row), HasSubstr("no kernel ran"));
}

TEST(Profile, NoRunsAreRefused) { EXPECT_THROW(aggregate(kKey, {}, {}), Error); }

TEST(Profile, LostActivitiesAreReported) {
  Trace trace = two_runs();
  EXPECT_THAT(plain_text(aggregate(kKey, kWalls, trace)), Not(HasSubstr("incomplete")));
  trace.dropped = 3;
  const RowProfile row = aggregate(kKey, kWalls, trace);
  EXPECT_EQ(row.dropped, 3u);
  EXPECT_THAT(plain_text(row), HasSubstr("incomplete: 3 activities were lost"));
}

TEST(Profile, TopKernelsAddUpAcrossRows) {
  const Trace other = {{{Kind::kernel, "fast", 0, 100}, {Kind::kernel, "rare", 100, 1}}, 0};
  const std::vector<RowProfile> rows = {aggregate(kKey, kWalls, two_runs()),
                                        aggregate(kKey, std::vector<double>{200}, other)};
  const std::vector<Part> top = top_kernels(rows, 2);
  ASSERT_EQ(top.size(), 2u);
  EXPECT_EQ(top[0].name, "fast");
  EXPECT_EQ(top[0].total_ns, 115);
  EXPECT_EQ(top[0].launches, 3);
  EXPECT_EQ(top[0].min_ns, 5);
  EXPECT_EQ(top[0].max_ns, 100);
  EXPECT_DOUBLE_EQ(top[0].share, 115.0 / 171);
  EXPECT_EQ(top[1].name, "slow");
  EXPECT_EQ(top_kernels(rows, 9).size(), 3u); // the fill is none
  EXPECT_TRUE(top_kernels(rows, 0).empty());
}

TEST(Profile, JsonHoldsTheFigures) {
  const std::vector<RowProfile> rows = {aggregate(kKey, kWalls, two_runs())};
  const auto parsed = nlohmann::json::parse(json(rows, top_kernels(rows, 1), {{"device", "host"}}));
  EXPECT_EQ(parsed.at("schema"), kProfileSchema);
  EXPECT_EQ(parsed.at("environment").at("device"), "host");
  const auto& row = parsed.at("rows").at(0);
  EXPECT_EQ(row.at("case"), "op.f32.n1");
  EXPECT_EQ(row.at("device_ns"), 70);
  EXPECT_EQ(row.at("host_ns"), 50);
  EXPECT_EQ(row.at("device").at(1).at("per_run"), 2);
  EXPECT_EQ(row.at("calls").at(0).at("kind"), "call");
  EXPECT_EQ(parsed.at("top").size(), 1u);
}

} // namespace
} // namespace kg::profile
