// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/suspects.h"

#include "tests/unit/perf/judge/rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace kg::judge {
namespace {

using test::blessed;
using test::file_of;
using test::key;
using test::measured;
using test::registered;

const GateOptions kHost;

// Two rows of one run: the second takes `median_ns` where 100 ns are blessed, the first passes.
GateResult screened(double median_ns, const GateOptions& options = kHost, double canary_width = 0) {
  const RowKey other = key("softmax.f16.other");
  Measured row = measured(median_ns);
  row.canary->half_width = canary_width;
  return judge({measured(100, other), row},
               {{"softmax", file_of({blessed(100, other), blessed(100)})}},
               {registered(other), registered()}, options);
}

RowConfirmation confirmed(Verdict verdict) {
  RowConfirmation result;
  result.found.emplace();
  result.found->verdict = verdict;
  result.found->reason = "<figures>";
  result.reference = "1a2b3c";
  result.tags_a = {{"sm_mhz", "1980"}, {"power_w", "350"}, {"ran", "online"}};
  result.tags_b = {{"sm_mhz", "1755"}};
  return result;
}

// The row of screened() beside the one that passes.
RowResult folded(GateResult result, const RowConfirmation& confirmation,
                 const GateOptions& options = kHost) {
  return fold(std::move(result), {{key(), confirmation}}, options).rows.at(1);
}

void expect(const RowResult& row, Verdict verdict, int exit_code, const std::string& words) {
  EXPECT_EQ(name(row.verdict), name(verdict)) << row.message;
  EXPECT_EQ(row.exit_code, exit_code) << row.message;
  EXPECT_FALSE(row.suspicious);
  EXPECT_NE(row.message.find(words), std::string::npos) << row.message;
}

TEST(Suspects, AreRankedAndCapped) {
  std::vector<Measured> rows;
  std::vector<TimingRow> baselines;
  std::vector<Registered> known;
  for (int i = 0; i < 30; ++i) {
    const RowKey row_key = key(fmt::format("softmax.f32.r{:02}", i));
    rows.push_back(measured(i < 5 ? 100 : 150 + i, row_key)); // the last the slowest
    baselines.push_back(blessed(100, row_key));
    known.push_back(registered(row_key));
  }
  const GateResult result = judge(rows, {{"softmax", file_of(baselines)}}, known, {});
  EXPECT_EQ(suspects(result, 100).size(), 25u);
  const std::vector<RowKey> worst = suspects(result);
  ASSERT_EQ(worst.size(), kMostConfirmed);
  EXPECT_EQ(worst.front(), key("softmax.f32.r29"));
  EXPECT_EQ(worst.back(), key("softmax.f32.r10"));
  Confirmations confirmations;
  for (const RowKey& row : worst) confirmations[row] = confirmed(Verdict::pass);
  const GateResult final = fold(result, confirmations, {});
  expect(final.rows[5], Verdict::inconclusive, 77, "beyond the 20 most suspicious rows");
  expect(final.rows[29], Verdict::pass, 0, "<figures>");
}

TEST(Fold, AConfirmedRegressionFails) {
  const GateResult result = fold(screened(150), {{key(), confirmed(Verdict::regressed)}}, kHost);
  expect(result.rows[1], Verdict::regressed, 1, "<figures>");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(screened(150).exit_code, 77) << "the other test passes, this one is undecided";
  expect(folded(screened(150, kHost, 0.5), confirmed(Verdict::regressed)), Verdict::regressed, 1,
         "");
}

TEST(Fold, TheMessageHasBothArmsAndTheCommand) {
  EXPECT_EQ(folded(screened(150), confirmed(Verdict::regressed)).message,
            "softmax.f32.r64_c64 online real: regressed: <figures>; A is commit 1a2b3c; A: sm_mhz "
            "1980, power_w 350; B: sm_mhz 1755. Ratio 0.667 [0.657, 0.676] (fair): 150 ns now, 100 "
            "ns blessed. 41 samples in 1 process would find 42.9 %. The memory canary takes "
            "1.00x its blessed time, known to +-0.0 %. Whether machine code or launches changed is "
            "unknown; again: kernelgrade ab --base 1a2b3c --op softmax --dtype f32 --case "
            "softmax.f32.r64_c64 "
            "--variant online --mode real");
}

TEST(Fold, AlikeIsAPassWithAWarning) {
  const RowResult row = folded(screened(150), confirmed(Verdict::pass));
  expect(row, Verdict::pass, 0, "<figures>");
  EXPECT_TRUE(row.warning) << "below excellent";
  expect(folded(screened(150), confirmed(Verdict::improved)), Verdict::pass, 0, "");
}

TEST(Fold, AlikeBesideASickCanaryIsTheMachine) {
  const RowResult host = folded(screened(150, kHost, 0.5), confirmed(Verdict::pass));
  expect(host, Verdict::pass, 0, "this machine is not the blessed one today");
  EXPECT_TRUE(host.warning);
  GateOptions gpu;
  gpu.device = Device::gpu;
  expect(folded(screened(150, gpu, 0.5), confirmed(Verdict::pass), gpu), Verdict::env, 77,
         "the machine is slower, not the kernel");
}

// Not slow at all, but beside a canary that says nothing.
TEST(Fold, WhatAHostCannotScreenIsConfirmed) {
  const GateResult sick = screened(100, kHost, 0.5);
  EXPECT_EQ(sick.rows[1].verdict, Verdict::env);
  EXPECT_EQ(suspects(sick), std::vector<RowKey>{key()});
  expect(folded(sick, confirmed(Verdict::regressed)), Verdict::regressed, 1, "<figures>");
  expect(folded(sick, confirmed(Verdict::pass)), Verdict::pass, 0, "<figures>");
  expect(folded(sick, {{}, "disabled", "", {}, {}}), Verdict::env, 77, "disabled");
  GateOptions gpu;
  gpu.device = Device::gpu;
  EXPECT_TRUE(suspects(screened(100, gpu, 0.5)).empty()) << "a pass, with or without the canary";
}

TEST(Fold, AlikeButFarBelowTheBaselineFails) {
  // 0.497 in the middle, above 0.5 in its interval: the screen could not fail it by itself.
  expect(folded(screened(100 / 0.497), confirmed(Verdict::pass)), Verdict::regressed, 1,
         "an irreproducible baseline, or a regression that both builds share");
  GateOptions gpu;
  gpu.device = Device::gpu;
  GateResult result = screened(100 / 0.71, gpu);
  EXPECT_TRUE(folded(result, confirmed(Verdict::pass), gpu).warning);
  result.rows[1].ratio = 0.69;
  expect(folded(result, confirmed(Verdict::pass), gpu), Verdict::regressed, 1, "irreproducible");
}

TEST(Fold, OnAnotherMachineTheBaselineIsOverruled) {
  GateOptions options;
  options.other_machine = "cpu: another";
  const GateResult result = screened(210, options);
  EXPECT_EQ(result.rows[1].verdict, Verdict::regressed);
  const RowResult row = folded(result, confirmed(Verdict::pass), options);
  expect(row, Verdict::pass, 0, "the baseline is another machine's");
  EXPECT_TRUE(row.warning);
  expect(folded(result, {{}, "disabled", "", {}, {}}, options), Verdict::regressed, 1, "disabled");
}

TEST(Fold, EnvAndUndecidedStaySo) {
  expect(folded(screened(150), confirmed(Verdict::env)), Verdict::env, 77, "<figures>");
  expect(folded(screened(150), confirmed(Verdict::inconclusive)), Verdict::inconclusive, 77, "");
}

TEST(Fold, WithoutAConfirmationRowsAreInconclusive) {
  const GateResult result = screened(150);
  const GateResult none = fold(result, unconfirmed(result, "commit 1a2b3c not found"), kHost);
  expect(none.rows[1], Verdict::inconclusive, 77, "not confirmed: commit 1a2b3c not found");
  EXPECT_EQ(none.exit_code, 77);
  GateOptions strict;
  strict.strict = true;
  const GateResult failed = fold(screened(150, strict), unconfirmed(result, "disabled"), strict);
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.notes.size(), 1u);
  // A note of the screen must not outlive its reason.
  EXPECT_TRUE(
      fold(screened(150, strict), {{key(), confirmed(Verdict::pass)}}, strict).notes.empty());
}

TEST(Fold, ChangedCodeThatCannotBeComparedPasses) {
  GateResult result = screened(100);
  result.rows[1].suspicious = true; // as the screen leaves a row whose code has changed
  expect(folded(result, {{}, "disabled", "", {}, {}}), Verdict::pass, 0, "disabled");
  expect(folded(result, confirmed(Verdict::regressed)), Verdict::regressed, 1, "<figures>");
}

TEST(Fold, TouchesOnlySuspiciousRows) {
  const GateResult result = screened(100);
  const GateResult same =
      fold(result, {{key(), confirmed(Verdict::regressed)}, {key("x.y.z"), {}}}, kHost);
  EXPECT_EQ(same.rows[1].verdict, Verdict::pass);
  EXPECT_EQ(same.exit_code, 0);
}

} // namespace
} // namespace kg::judge
