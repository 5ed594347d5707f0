// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The GPU's rule: times, not canary units; one run may suspect but, short of a ratio below 0.70,
// not fail.
#include "perf/judge/gate.h"

#include "perf/judge/wording.h"
#include "tests/unit/perf/judge/rows.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace kg::judge {
namespace {

using test::blessed;
using test::file_of;
using test::key;
using test::measured;
using test::registered;

RowResult judged(const Measured& row, const TimingRow& baseline) {
  GateOptions options;
  options.device = Device::gpu;
  const GateResult result =
      judge({row}, {{"softmax", file_of({baseline})}}, {registered()}, options);
  return result.rows.at(0);
}

Measured beside_canary(double median_ns, double canary_ns, double half_width = 0.01) {
  Measured row = measured(median_ns);
  row.canary = MeasuredCanary{CanaryKind::memory, canary_ns, half_width};
  return row;
}

void expect(const RowResult& result, Verdict verdict, int exit_code, const std::string& words) {
  EXPECT_EQ(name(result.verdict), name(verdict)) << result.message;
  EXPECT_EQ(result.exit_code, exit_code) << result.message;
  EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
}

TEST(GpuGate, ToleranceIsTheRowsOwn) {
  expect(judged(measured(101.9), blessed(100)), Verdict::pass, 0,
         "not slower than its tolerance of 2 %");
  expect(judged(measured(102.1), blessed(100)), Verdict::inconclusive, 77, "tolerance of 2 %");
  TimingRow loose = blessed(100);
  loose.tol_pct = 5;
  expect(judged(measured(104.9), loose), Verdict::pass, 0, "not slower than its tolerance of 5 %");
}

TEST(GpuGate, OneRunFailsOnlyBelowSeventyPercent) {
  expect(judged(measured(100 / 0.71), blessed(100)), Verdict::inconclusive, 77, "not confirmed");
  expect(judged(measured(100 / 0.69), blessed(100)), Verdict::regressed, 1, "slower than 0.70");
}

TEST(GpuGate, ASlowMachineIsNoRegression) {
  // Slow with and without the canary: suspicious, but no canary may fail it.
  expect(judged(beside_canary(200, 1021), blessed(100)), Verdict::inconclusive, 77, "takes 1.02x");
  expect(judged(beside_canary(200, 1000, 0.021), blessed(100)), Verdict::inconclusive, 77,
         "its canary, which is unstable");
  expect(judged(beside_canary(200, 979), blessed(100)), Verdict::inconclusive, 77, "takes 0.98x");
  EXPECT_FALSE(judged(beside_canary(200, 979), blessed(100)).grade);
  expect(judged(beside_canary(99, 1100), blessed(100)), Verdict::pass, 0, "not slower");
  // Fast enough only if the canary is believed.
  expect(judged(beside_canary(110, 1100), blessed(100)), Verdict::env, 77, "takes 1.10x");
  // Fast enough only because the machine is faster today.
  expect(judged(beside_canary(99, 900), blessed(100)), Verdict::env, 77, "takes 0.90x");
}

TEST(GpuGate, SmallDriftIsDividedOut) {
  const RowResult drifted = judged(beside_canary(101.5, 1015), blessed(100));
  EXPECT_DOUBLE_EQ(*drifted.ratio, 1);
  const RowResult noise = judged(beside_canary(101, 1009), blessed(100));
  EXPECT_DOUBLE_EQ(*noise.ratio, 100.0 / 101);
}

TEST(GpuGate, WithoutACanaryOneRunNeverFails) {
  Measured row = measured(1000);
  row.canary.reset();
  expect(judged(row, blessed(100)), Verdict::inconclusive, 77, "not confirmed");
  TimingRow bare = blessed(100);
  bare.canary.reset();
  expect(judged(measured(1000), bare), Verdict::inconclusive, 77, "not confirmed");
  expect(judged(row, bare), Verdict::inconclusive, 77, "not confirmed");
  expect(judged(measured(100), bare), Verdict::pass, 0, "not slower");
}

TEST(GpuGate, Improved) {
  expect(judged(measured(90), blessed(100)), Verdict::improved, 0, "consider a bless");
  expect(judged(measured(97), blessed(100)), Verdict::pass, 0, "not slower");
  TimingRow loose = blessed(100);
  loose.tol_pct = 15;
  expect(judged(measured(90), loose), Verdict::pass, 0, "not slower");
}

TEST(GpuGate, ASingleSlopeOfGraphsMayBeNegative) {
  const RowKey graph = key(key().case_id, "online", Mode::graph);
  Measured row = measured(100, graph);
  row.samples_ns[3] = -1;
  EXPECT_EQ(defect(row, Device::gpu), std::nullopt);
  row.samples_ns[3] = std::nan("");
  EXPECT_EQ(defect(row, Device::gpu), "it has samples that are not times");
  row = measured(100, graph);
  row.process_medians_ns[0] = -1;
  EXPECT_EQ(defect(row, Device::gpu), "it has samples that are not times");
}

TEST(GpuGate, WhatIsBeyondTheRoofIsInvalid) {
  const RowKey cold = key(key().case_id, "online", Mode::cold);
  GateOptions options;
  const auto judged_cold = [&](double roof_ns) { // 32768 bytes in 100 ns
    options.ceilings = {{"dram_bytes_per_s", 32768 / (roof_ns * 1e-9)}};
    return judge({measured(100, cold)}, {{"softmax", file_of({blessed(100, cold)})}},
                 {registered(cold)}, options)
        .rows.at(0);
  };
  for (const Device device : {Device::gpu, Device::host}) {
    options.device = device;
    expect(judged_cold(101.9), Verdict::pass, 0, "102 % of the roof");
    expect(judged_cold(103), Verdict::invalid, 1, "103 % of the device's measured roof");
  }
  options.other_machine = "cpu: 'a' blessed, 'b' here";
  expect(judged_cold(103), Verdict::pass, 0, "103 % of the roof");
  options.device = Device::gpu; // folders of GPUs are by model
  expect(judged_cold(103), Verdict::invalid, 1, "103 % of the device's measured roof");
}

} // namespace
} // namespace kg::judge
