// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole gate, from measured processes to the exit code, on a machine whose truth is known.
#include "tests/unit/perf/judge/fake_device.h"

#include "tests/unit/perf/judge/rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace kg::judge {
namespace {

using namespace test;

Truth rows_of(std::size_t count, double ns = 1e5) {
  Truth truth;
  for (std::size_t i = 0; i < count; ++i)
    truth[key(fmt::format("softmax.f32.r{:03}", i), "online", Mode::hot)] =
        ns * (1 + 0.1 * static_cast<double>(i));
  return truth;
}

Truth slower(Truth truth, double share) {
  for (auto& [row, ns] : truth) ns *= 1 + share;
  return truth;
}

std::size_t count(const GateResult& result, Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(result.rows.begin(), result.rows.end(),
                    [&](const RowResult& row) { return row.verdict == verdict; }));
}

std::string messages(const GateResult& result) {
  std::string all;
  for (const RowResult& row : result.rows) all += row.message + "\n";
  return all;
}

TEST(FakeDevice, NothingChanged) {
  const Truth truth = rows_of(30);
  for (const NoiseModel& noise : {kQuiet, kTypical, kWild}) {
    FakeDevice device;
    const TimingFile file = bless_on(device, truth);
    device.noise = noise; // a baseline with wild processes would have been refused
    const GateResult result = gate_on(device, truth, truth, file);
    EXPECT_EQ(count(result, Verdict::regressed), 0u) << noise.name << messages(result);
    EXPECT_GE(count(result, Verdict::pass), 29u) << noise.name << messages(result);
    EXPECT_EQ(result.exit_code, 0);
  }
}

TEST(FakeDevice, FivePercentAreFoundAndExplained) {
  const Truth truth = rows_of(4);
  FakeDevice device;
  device.tags = {{"sm_mhz", "1980"}};
  const TimingFile file = bless_on(device, truth);
  Truth now = truth;
  now.begin()->second *= 1.05;
  const GateResult result = gate_on(device, now, truth, file);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(count(result, Verdict::regressed), 1u) << messages(result);
  for (const char* words :
       {"softmax.f32.r000 online hot: regressed: slower than its tolerance of 2 %", "pairs",
        "9 in 10 times", "samples in 5 processes", "canary takes 1.0", "sm_mhz 1980", "achine code",
        "again: kernelgrade ab --base 1a2b3c --op softmax --dtype f32 --case softmax.f32.r000"})
    EXPECT_NE(result.rows[0].message.find(words), std::string::npos) << words << "\n"
                                                                     << result.rows[0].message;
}

TEST(FakeDevice, AMachineThatIsSlowerTodayIsNoRegression) {
  const Truth truth = rows_of(60);
  FakeDevice device;
  const TimingFile file = bless_on(device, truth);
  device.slower = 0.06;
  // The canary sees all of it: the machine.
  device.canary_slower = 0.06;
  const GateResult seen = gate_on(device, truth, truth, file);
  EXPECT_EQ(count(seen, Verdict::regressed), 0u) << messages(seen);
  EXPECT_GE(count(seen, Verdict::env), 50u);
  // It sees none of it: the rows are suspicious, and the builds alike.
  device.canary_slower = 0;
  const GateResult unseen = gate_on(device, truth, truth, file);
  EXPECT_EQ(count(unseen, Verdict::regressed), 0u) << messages(unseen);
  EXPECT_GE(count(unseen, Verdict::pass), 20u) << "as many as are confirmed";
  EXPECT_EQ(count(unseen, Verdict::pass) + count(unseen, Verdict::inconclusive), 60u);
  // And a true regression is still found there.
  Truth now = truth;
  now.begin()->second *= 1.05;
  device.canary_slower = 0.06;
  EXPECT_EQ(gate_on(device, now, truth, file).rows[0].verdict, Verdict::regressed);
}

TEST(FakeDevice, CreepIsCaughtByTheFifthStep) {
  // Each step is within the tolerance of 2 %, and blessed never again.
  const Truth truth = rows_of(1);
  FakeDevice device;
  const TimingFile file = bless_on(device, truth);
  Truth now = truth;
  int caught = 0;
  for (int step = 1; step <= 5 && !caught; ++step) {
    now = slower(now, 0.015);
    if (gate_on(device, now, truth, file).exit_code == 1) caught = step;
  }
  EXPECT_GT(caught, 1) << "1.5 % alone are tolerated";
  EXPECT_LE(caught, 5);
}

TEST(FakeDevice, FasterIsImprovedAndNeverRegressed) {
  const Truth truth = rows_of(5);
  FakeDevice device;
  device.noise = kQuiet;
  const TimingFile file = bless_on(device, truth);
  const GateResult faster = gate_on(device, slower(truth, -0.10), truth, file);
  EXPECT_EQ(count(faster, Verdict::improved), 5u) << messages(faster);
  EXPECT_EQ(faster.exit_code, 0);
  const GateResult slow = gate_on(device, slower(truth, 0.10), truth, file);
  EXPECT_EQ(count(slow, Verdict::regressed), 5u) << "the ratio has its sign";
  EXPECT_EQ(slow.exit_code, 1);
}

TEST(FakeDevice, ADriftInTheCourseOfAConfirmationIsNoRegression) {
  const Truth truth = rows_of(20);
  FakeDevice device;
  const TimingFile file = bless_on(device, truth);
  device.slower = 0.03; // so that there is something to confirm
  device.drift = 0.03;
  const GateResult result = gate_on(device, truth, truth, file);
  EXPECT_EQ(count(result, Verdict::regressed), 0u) << messages(result);
  EXPECT_EQ(count(result, Verdict::env), 0u) << messages(result);
}

TEST(FakeDevice, ThrottledRowsAreNotJudged) {
  const Truth truth = rows_of(3);
  FakeDevice device;
  const TimingFile file = bless_on(device, truth);
  device.tags = {{"throttled", "thermal"}};
  const GateResult result = gate_on(device, slower(truth, 0.5), truth, file);
  EXPECT_EQ(count(result, Verdict::env), 3u);
  EXPECT_EQ(result.exit_code, 77);
  EXPECT_EQ(gate_on(device, truth, truth, file, true).exit_code, 1) << "strict";
}

TEST(FakeDevice, WhereTwoCopiesOfOneBuildDifferNothingIsJudged) {
  const Truth truth = rows_of(3);
  FakeDevice device;
  const TimingFile file = bless_on(device, truth);
  device.control_slower = 0.05;
  const GateResult result = gate_on(device, slower(truth, 0.1), truth, file);
  EXPECT_EQ(count(result, Verdict::env), 3u) << messages(result);
  EXPECT_NE(result.rows[0].message.find("two copies of the same build differ by"),
            std::string::npos);
}

// Our row and a library's of the same work. The machine is 8 % faster than when both were blessed,
// which hides that ours has become 6 % slower from everything but the library.
class BesideALibrary : public testing::Test {
 protected:
  const Truth truth_ = {{key("softmax.f32.r0", "online", Mode::hot), 1e5},
                        {key("softmax.f32.r0", kVendor, Mode::hot), 5e4}};

  RowResult judged(FakeDevice device, double ours_slower = 0.06, double library_slower = 0) const {
    const TimingFile file = bless_on(device, truth_);
    device.slower = -0.08;
    if (device.device == Device::host) device.canary_slower = -0.08;
    device.library = library_today_;
    Truth now = truth_;
    now[key("softmax.f32.r0", "online", Mode::hot)] *= 1 + ours_slower;
    now[key("softmax.f32.r0", kVendor, Mode::hot)] *= 1 + library_slower;
    const GateResult result = gate_on(device, now, truth_, file);
    const auto ours = std::find_if(result.rows.begin(), result.rows.end(),
                                   [](const RowResult& row) { return row.kind == Kind::ours; });
    return *ours;
  }
  std::string library_today_ = FakeDevice().library;
};

TEST_F(BesideALibrary, WhatLosesGroundIsConfirmedAndFails) {
  const RowResult row = judged({});
  EXPECT_EQ(row.verdict, Verdict::regressed) << row.message;
  EXPECT_EQ(row.exit_code, 1);
  EXPECT_NE(row.message.find("0.47 of cublas's speed (0.50 when blessed)"), std::string::npos)
      << row.message;
  EXPECT_EQ(judged({}, 0).verdict, Verdict::improved) << "with the machine, as the library has";
}

TEST_F(BesideALibrary, AnotherVersionInformsOnly) {
  library_today_ = "cublas 13.1.0";
  const RowResult row = judged({});
  EXPECT_EQ(row.verdict, Verdict::pass) << row.message;
  EXPECT_NE(row.message.find("which is not judged: cublas 13.0.1 blessed, cublas 13.1.0 here"),
            std::string::npos)
      << row.message;
}

TEST_F(BesideALibrary, AHostIsNotJudgedByIt) {
  FakeDevice host;
  host.device = Device::host;
  const RowResult row = judged(host, 0, -0.2);
  EXPECT_EQ(row.verdict, Verdict::pass) << row.message;
  EXPECT_EQ(row.message.find("cublas"), std::string::npos) << row.message;
}

// What must turn the gate red, however it comes about.
class Sabotage : public testing::Test {
 protected:
  Truth truth_ = rows_of(8);
  FakeDevice device_;
  TimingFile file_ = bless_on(device_, truth_);

  int exit_with(const TimingFile& file, bool strict = false) {
    return gate_on(device_, truth_, truth_, file, strict).exit_code;
  }
};

TEST_F(Sabotage, NoneIsGreen) { EXPECT_EQ(exit_with(file_), 0); }

TEST_F(Sabotage, ABaselineMadeTwiceAsFast) {
  TimingRow& row = file_.rows[3];
  row.median_ns *= 0.5;
  row.ci_ns = {row.ci_ns.low * 0.5, row.ci_ns.high * 0.5};
  EXPECT_EQ(exit_with(file_), 1) << "by its median alone";
  for (double& ns : row.process_medians_ns) ns *= 0.5;
  EXPECT_EQ(exit_with(file_), 1);
}

TEST_F(Sabotage, ARowDropped) {
  file_.rows.erase(file_.rows.begin() + 2);
  EXPECT_EQ(exit_with(file_), 1);
}

TEST_F(Sabotage, ARowNotMeasured) {
  std::vector<Measured> rows = device_.measure(truth_, 5);
  rows.erase(rows.begin());
  GateOptions options;
  options.device = Device::gpu;
  EXPECT_EQ(judge(rows, {{"softmax", file_}}, registered_rows(truth_), options).exit_code, 1);
}

TEST_F(Sabotage, NothingMeasuredOrNothingRegistered) {
  GateOptions options;
  options.device = Device::gpu;
  const std::vector<Registered> known = registered_rows(truth_);
  EXPECT_EQ(fold(judge({}, {{"softmax", file_}}, known, options), {}, options).exit_code, 1);
  EXPECT_EQ(fold(judge({}, {{"softmax", file_}}, {}, options), {}, options).exit_code, 1);
  EXPECT_EQ(fold(judge({}, {}, {}, options), {}, options).exit_code, 1);
}

TEST_F(Sabotage, AnotherDevicesFile) {
  // A device half as fast again, in its file: faster or slower, nothing passes for like with like.
  for (TimingRow& row : file_.rows) row.canary->median_ns *= 1.5;
  EXPECT_EQ(exit_with(file_), 77);
  EXPECT_EQ(exit_with(file_, true), 1);
  for (TimingRow& row : file_.rows) row.canary->kind = CanaryKind::compute;
  EXPECT_EQ(exit_with(file_), 1) << "beside another canary";
}

TEST(FakeDevice, TwoHundredFiftySixRegressionsAreExitCodeOne) {
  const Truth truth = rows_of(256);
  FakeDevice device;
  device.noise = kQuiet;
  const TimingFile file = bless_on(device, truth);
  const GateResult result = gate_on(device, slower(truth, 0.6), truth, file);
  EXPECT_EQ(count(result, Verdict::regressed), 256u) << "below the line that needs no confirmation";
  EXPECT_EQ(result.exit_code, 1);
  const GateResult few = gate_on(device, slower(truth, 0.10), truth, file);
  EXPECT_EQ(count(few, Verdict::regressed), kMostConfirmed);
  EXPECT_EQ(count(few, Verdict::inconclusive), 256 - kMostConfirmed);
  EXPECT_EQ(few.exit_code, 1);
}

TEST(FakeDevice, OnHostTheCanaryCarriesTheMachine) {
  const Truth truth = rows_of(10);
  FakeDevice device;
  device.device = Device::host;
  const TimingFile file = bless_on(device, truth);
  device.slower = device.canary_slower = 0.4;
  const GateResult same = gate_on(device, truth, truth, file);
  EXPECT_EQ(count(same, Verdict::regressed), 0u) << messages(same);
  EXPECT_EQ(same.exit_code, 0);
  const GateResult slow = gate_on(device, slower(truth, 0.08), truth, file);
  EXPECT_EQ(count(slow, Verdict::regressed), 10u) << messages(slow);
}

} // namespace
} // namespace kg::judge
