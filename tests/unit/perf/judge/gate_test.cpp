// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One row at a time: every verdict, with its exit code, on host. gate_gpu_test.cpp has the GPU's
// rule, gate_run_test.cpp whole runs.
#include "perf/judge/gate.h"

#include "tests/unit/perf/judge/rows.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kg::judge {
namespace {

using test::blessed;
using test::file_of;
using test::key;
using test::measured;
using test::registered;

// The only row of a run on host.
RowResult judged(const Measured& row, const TimingRow& baseline) {
  const GateResult result = judge({row}, {{"softmax", file_of({baseline})}}, {registered()}, {});
  EXPECT_EQ(result.rows.size(), 1u);
  EXPECT_TRUE(result.faults.empty());
  const RowResult& row_result = result.rows.front();
  const bool nothing_judged = row_result.informs && row_result.exit_code == kExitPass;
  EXPECT_EQ(result.exit_code, nothing_judged ? kExitSkip : row_result.exit_code)
      << "one row is the whole run";
  return result.rows.front();
}

void expect(const RowResult& result, Verdict verdict, int exit_code, const std::string& words) {
  EXPECT_EQ(name(result.verdict), name(verdict)) << result.message;
  EXPECT_EQ(result.exit_code, exit_code) << result.message;
  EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
}

TEST(HostGate, AsFastAsBlessed) {
  const RowResult result = judged(measured(100), blessed(100));
  expect(result, Verdict::pass, 0, "not slower than 0.70");
  EXPECT_DOUBLE_EQ(*result.ratio, 1);
  EXPECT_EQ(result.grade, Grade::excellent);
  EXPECT_FALSE(result.warning);
}

TEST(HostGate, TheMessageSaysWhatWasSeenAndHowToSeeItAgain) {
  // A median 300, CI of 41 samples 1 % apart end to end: ranks 12 and 30 of 41, that is 300 * (1 -+
  // 9 * 0.0005).
  EXPECT_EQ(
      judged(measured(300), blessed(100)).message,
      "softmax.f32.r64_c64 online real: regressed: slower than 0.50 of the baseline beside a "
      "healthy canary. Ratio 0.333 [0.329, 0.338] (poor): 300 ns now, 100 ns blessed. 41 samples "
      "in 1 process would find 42.9 %. The memory canary takes 1.00x its blessed time, known to "
      "+-1.0 %. Whether machine code or launches changed is unknown; again: kernelgrade gate --op "
      "softmax --dtype f32 --case softmax.f32.r64_c64 --variant online --mode real");
}

TEST(HostGate, Borders) {
  expect(judged(measured(99.9 / 0.50), blessed(100)), Verdict::inconclusive, 77, "0.70");
  EXPECT_TRUE(judged(measured(100 / 0.69), blessed(100)).suspicious);
  EXPECT_FALSE(judged(measured(100 / 0.71), blessed(100)).suspicious);
  expect(judged(measured(100 / 0.48), blessed(100)), Verdict::regressed, 1, "slower than 0.50");
  expect(judged(measured(100 * 0.69), blessed(100)), Verdict::improved, 0, "consider a bless");
  expect(judged(measured(100 * 0.72), blessed(100)), Verdict::pass, 0, "not slower");
}

TEST(HostGate, TooNoisyToBeSure) {
  // The ratio is 0.497, but its interval, 1.5 % either way, reaches over the line.
  expect(judged(measured(100 / 0.497), blessed(100)), Verdict::inconclusive, 77, "not confirmed");
}

TEST(HostGate, AnotherCpuDoesNotMatter) {
  Measured row = measured(180); // all is 1.8 times as slow, the canary too
  row.canary->median_ns = 1800;
  const RowResult result = judged(row, blessed(100));
  expect(result, Verdict::pass, 0, "not slower");
  EXPECT_DOUBLE_EQ(*result.ratio, 1);
  EXPECT_NEAR(result.ratio_interval.low, 1, 0.03);
}

TEST(HostGate, AFastCanaryUncoversASlowRow) {
  Measured row = measured(150);
  row.canary->median_ns = 600;
  EXPECT_DOUBLE_EQ(*judged(row, blessed(100)).ratio, 0.4);
  expect(judged(row, blessed(100)), Verdict::regressed, 1, "0.60x its blessed time");
}

TEST(HostGate, AnUnhealthyCanaryIsTheMachine) {
  Measured row = measured(100);
  row.canary->half_width = 0.21;
  expect(judged(row, blessed(100)), Verdict::env, 77, "known to +-21.0 %");
  EXPECT_FALSE(judged(row, blessed(100)).grade)
      << "the machine's ratio is not a grade of the kernel";
  row = measured(300);
  row.canary = MeasuredCanary{CanaryKind::memory, 3000, 0.01};
  expect(judged(row, blessed(100)), Verdict::env, 77, "takes 3.00x");
  row = measured(100);
  row.canary->median_ns = 499;
  expect(judged(row, blessed(100)), Verdict::env, 77, "takes 0.50x");
}

TEST(HostGate, BesideAnUnhealthyCanaryARowIsSuspiciousOnlyIfSlowEitherWay) {
  Measured row = measured(300);
  row.canary->half_width = 0.21;
  expect(judged(row, blessed(100)), Verdict::inconclusive, 77, "with and without its canary");
  EXPECT_TRUE(judged(row, blessed(100)).suspicious);
  EXPECT_FALSE(judged(row, blessed(100)).grade);
  row.canary = MeasuredCanary{CanaryKind::memory, 2001, 0.01};
  EXPECT_TRUE(judged(row, blessed(100)).suspicious) << "0.67 in canary units";
  row.canary->median_ns = 2200;
  expect(judged(row, blessed(100)), Verdict::env, 77, "takes 2.20x");
  row.canary = MeasuredCanary{CanaryKind::memory, 500, 0.20};
  expect(judged(row, blessed(100)), Verdict::regressed, 1, "takes 0.50x");
}

TEST(HostGate, WhatCannotBeRightIsInvalid) {
  Measured row = measured(100);
  row.verified = "element 7 is NaN";
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "its output is wrong (element 7 is NaN)");
  row = measured(100);
  row.samples_ns.clear();
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "no samples");
  row = measured(100);
  row.samples_ns[3] = std::nan("");
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "samples that are not times");
  row = measured(100);
  row.samples_ns[3] = 0;
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "samples that are not times");
  row = measured(100);
  row.median_ns = std::nan("");
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "lies outside");
  row = measured(100);
  row.median_ns = 1; // a ratio of 100 must not pass for an improvement
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "lies outside");
  row = measured(100);
  row.canary.reset();
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "no canary");
  row = measured(100);
  row.canary->median_ns = 0;
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "its canary took 0 ns");
  row = measured(100);
  row.canary->kind = CanaryKind::sync;
  expect(judged(row, blessed(100)), Verdict::invalid, 1, "beside a memory canary");
}

TEST(HostGate, SevenSamplesDecideNothing) {
  Measured row = measured(100);
  take_samples(row, std::vector<double>(7, 100.0));
  expect(judged(row, blessed(100)), Verdict::inconclusive, 77, "fewer than 8 samples");
  take_samples(row, std::vector<double>(8, 100.0));
  expect(judged(row, blessed(100)), Verdict::pass, 0, "not slower");
}

TEST(HostGate, ASkippedRowSaysWhy) {
  Measured row = measured(100);
  row.skipped = "oneDNN has no f16 on this CPU";
  expect(judged(row, blessed(100)), Verdict::skipped, 77, "oneDNN has no f16 on this CPU");
}

TEST(HostGate, InfoRowsNeverFail) {
  TimingRow baseline = blessed(100);
  baseline.status = Status::info;
  expect(judged(measured(300), baseline), Verdict::regressed, 0, "(info) ");
  Measured noisy = measured(100);
  noisy.canary->half_width = 0.5;
  expect(judged(noisy, baseline), Verdict::env, 0, "(info) ");
  expect(judged(measured(150), baseline), Verdict::inconclusive, 0, "(info) ");
  EXPECT_FALSE(judged(measured(150), baseline).suspicious) << "nothing to confirm";
}

TEST(HostGate, WrongOutputOfOursFailsThoughTheRowInforms) {
  TimingRow baseline = blessed(100);
  baseline.status = Status::info;
  Measured wrong = measured(100);
  wrong.verified = "element 5 is 1, not 2";
  expect(judged(wrong, baseline), Verdict::invalid, 1, "element 5 is 1, not 2");
}

TEST(HostGate, WrongOutputOfALibraryIsSaidAndFailsNobodyBlessedOrNot) {
  Measured ours = measured(100), wrong = measured(100, key(key().case_id, "onednn"));
  wrong.kind = Kind::vendor;
  wrong.verified = "element 5 is 1, not 2";
  Registered vendor = registered(wrong.key);
  vendor.kind = Kind::vendor;
  TimingRow baseline = blessed(100, wrong.key);
  baseline.status = Status::info;
  for (const TimingFile& file : {file_of({blessed(100), baseline}), file_of({blessed(100)})}) {
    const GateResult result = judge({ours, wrong}, {{"softmax", file}}, {registered(), vendor}, {});
    EXPECT_EQ(result.exit_code, 0) << file.rows.size();
    const RowResult& row = result.rows.at(1);
    expect(row, Verdict::invalid, 0, "element 5 is 1, not 2");
    EXPECT_TRUE(row.message.starts_with("(info) ")) << row.message;
    EXPECT_TRUE(row.informs && row.warning) << "a note of the summary";
  }
}

TEST(HostGate, WhatIsUndecidedHasNoGrade) {
  const RowResult slower = judged(measured(150), blessed(100));
  expect(slower, Verdict::inconclusive, 77, "Ratio 0.667 [0.657, 0.676]: 150 ns now");
  EXPECT_EQ(slower.grade, std::nullopt);
  EXPECT_TRUE(slower.ratio.has_value());
  // Beside a sick canary nothing looks slower, least of all what is twice as fast in its units.
  Measured row = measured(100);
  TimingRow same = blessed(100);
  row.identity = same.identity = "1a2b3c";
  row.canary->median_ns = 2200;
  const RowResult sick = judged(row, same);
  expect(sick, Verdict::env, 77, "machine cannot be compared");
  EXPECT_NE(sick.message.find("Ratio 2.200 [2."), std::string::npos) << sick.message;
  for (const char* word : {"looks slower", "excellent"})
    EXPECT_EQ(sick.message.find(word), std::string::npos) << sick.message;
}

TEST(HostGate, XfailRowsMayBeSlowButNotWrong) {
  TimingRow baseline = blessed(100);
  baseline.status = Status::xfail;
  baseline.why = "waits for issue 12";
  expect(judged(measured(300), baseline), Verdict::regressed, 0,
         "(xfail, as expected: waits for issue 12)");
  expect(judged(measured(100), baseline), Verdict::pass, 0, "bless it with status gate");
  EXPECT_TRUE(judged(measured(100), baseline).warning);
  Measured wrong = measured(300);
  wrong.verified = "wrong";
  expect(judged(wrong, baseline), Verdict::invalid, 1, "wrong");
  const RowResult undecided = judged(measured(150), baseline);
  expect(undecided, Verdict::inconclusive, 77, "looks slower");
  EXPECT_EQ(undecided.message.find("as expected"), std::string::npos) << undecided.message;
}

TEST(HostGate, TheGradeShowsThatTheIntervalStraddlesABorder) {
  EXPECT_EQ(grade_text(Grade::good, {0.80, 0.85}), "good");
  EXPECT_EQ(grade_text(Grade::good, {0.88, 0.91}), "good..excellent");
  EXPECT_EQ(grade_text(Grade::fair, {0.1, 2}), "critical..excellent");
}

TEST(HostGate, TwoModesAreShown) {
  Measured row = measured(100);
  row.process_medians_ns = {100, 100, 130, 130};
  expect(judged(row, blessed(100)), Verdict::pass, 0, "Two modes: 100 ns and 130 ns");
}

} // namespace
} // namespace kg::judge
