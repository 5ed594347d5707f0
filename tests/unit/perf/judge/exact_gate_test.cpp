// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/exact_gate.h"

#include "tests/unit/perf/judge/exact_rows.h"

#include <gtest/gtest.h>
#include <limits>

namespace kg::judge {
namespace {

using test::cost;
using test::file_of;
using test::kernel;
using test::kernel_with;
using test::measured;

const ExactFile kNoFile = {"gemm.csv", false, {}, {}};
const ExactOptions kOptions = {false, "kernelgrade cost", "kernelgrade cost --bless"};

ExactResult judge_costs(const std::vector<ExactMeasured>& rows, const ExactFile& file,
                        const ExactOptions& options = kOptions) {
  return judge_exact(cost_table(), rows, file, {}, options);
}

// The verdict of one cost that was `before` and is `after`.
ExactVerdict verdict(double before, double after, double minimum = 0) {
  ExactRow old = cost(before), now = cost(after);
  old.values[1] = now.values[1] = minimum;
  const ExactResult result = judge_costs({measured(now)}, file_of({old}));
  EXPECT_EQ(result.exit_code, result.rows.at(0).exit_code);
  return result.rows.at(0);
}

ExactVerdict resources(const ExactRow& after) {
  return judge_exact(resource_table(), {measured(after)}, file_of({kernel()}), {}, kOptions)
      .rows.at(0);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(ExactGate, EqualPassesAnyMoreFailsAnyLessImproves) {
  EXPECT_EQ(verdict(8, 8).verdict, Verdict::pass);
  EXPECT_EQ(verdict(8, 8).exit_code, 0);
  EXPECT_EQ(verdict(100000000, 100000001).verdict, Verdict::regressed) << "one event in 10^8";
  EXPECT_EQ(verdict(100000000, 100000001).exit_code, 1);
  EXPECT_EQ(verdict(8, 7).verdict, Verdict::improved);
  EXPECT_EQ(verdict(8, 7).exit_code, 0);
  EXPECT_EQ(verdict(as_written(1.0 / 3), 1.0 / 3).verdict, Verdict::pass) << "as it was written";
}

TEST(ExactGate, TheRulesOfZero) {
  EXPECT_EQ(verdict(0, 0).ratio, 1.0);
  EXPECT_EQ(verdict(0, 0).grade, Grade::excellent);
  EXPECT_EQ(verdict(0, 5).ratio, 0.0);
  EXPECT_EQ(verdict(0, 5).grade, Grade::critical);
  EXPECT_EQ(verdict(0, 5).verdict, Verdict::regressed);
  EXPECT_EQ(verdict(5, 0).verdict, Verdict::improved);
  EXPECT_EQ(verdict(8, 16).ratio, 0.5);
  EXPECT_EQ(verdict(8, 16).grade, Grade::fair);
}

TEST(ExactGate, FewerThanTheMinimumIsNoImprovement) {
  const ExactVerdict none = verdict(98304, 0, 65536);
  EXPECT_EQ(none.verdict, Verdict::invalid);
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_TRUE(holds(none.message, "invalid: value 0 is below the algorithmic minimum of 65536: "
                                  "accesses were not counted"))
      << none.message;
  EXPECT_EQ(verdict(98304, 65535, 65536).verdict, Verdict::invalid) << "some of them are lost";
  EXPECT_EQ(verdict(98304, 65536, 65536).verdict, Verdict::improved);
  EXPECT_EQ(verdict(65536, 65536, 65536).verdict, Verdict::pass);
  EXPECT_EQ(verdict(1, 1.0 / 3, 1.0 / 3).verdict, Verdict::improved) << "as it was written";
  EXPECT_EQ(judge_costs({measured(cost(3), Gating::never)}, file_of({cost(8)})).exit_code, 1)
      << "nor does it inform";
}

TEST(ExactGate, TheMessageOfARegressionSaysAll) {
  ExactMeasured now = measured(cost(16));
  now.site = "kernels/ops/gemm/gemm_tiled.cu:160";
  now.hint = "one barrier per slice is enough with two buffers";
  EXPECT_EQ(
      judge_costs({now}, file_of({cost(8)})).rows[0].message,
      "gemm.f32.m64 tiled sectors: regressed: value 8 -> 16 (minimum 4); most of it at "
      "kernels/ops/gemm/gemm_tiled.cu:160; one barrier per slice is enough with two buffers; "
      "again: kernelgrade cost --case gemm.f32.m64 --variant tiled; if the change is intended: "
      "kernelgrade cost --bless --case gemm.f32.m64 --variant tiled --why \"...\"");
  EXPECT_TRUE(holds(verdict(8, 7).message,
                    "; bless: kernelgrade cost --bless --case gemm.f32.m64 --variant tiled"));
}

// What no tool was there to read is not compared; everything else is.
TEST(ExactGate, WhatWasNotReadIsNotCompared) {
  constexpr std::size_t kBytesInFlight = 9, kDivisions = 12;
  const double unread = std::numeric_limits<double>::quiet_NaN();
  const auto judged = [](ExactRow now, std::map<std::string, std::string> hints = {}) {
    ExactMeasured row = measured(std::move(now));
    row.hints = std::move(hints);
    return judge_exact(resource_table(), {row}, file_of({kernel()}), {}, {}).rows.at(0);
  };
  EXPECT_EQ(judged(kernel_with(kBytesInFlight, unread)).verdict, Verdict::pass);
  ExactRow worse = kernel_with(kBytesInFlight, unread);
  worse.values[1] = 8; // spills
  EXPECT_EQ(judged(worse).verdict, Verdict::regressed);
  EXPECT_EQ(judged(kernel_with(0, unread)).verdict, Verdict::invalid) << "registers are known";
  // Columns of machine code bring hints of their own, each for itself.
  ExactRow both = kernel_with(kBytesInFlight, 16);
  both.values[kDivisions] = 3;
  const ExactVerdict said =
      judged(both, {{"bytes_in_flight", "loads at row.h:25"}, {"divisions", "at gather.h:100"}});
  EXPECT_EQ(said.verdict, Verdict::regressed);
  EXPECT_TRUE(holds(said.message, "bytes_in_flight 32 -> 16, divisions 2 -> 3; loads at row.h:25; "
                                  "at gather.h:100; again:"))
      << said.message;
}

TEST(ExactGate, AFaultIsInvalidWhateverTheValue) {
  for (const Gating gating : {Gating::always, Gating::never}) {
    ExactMeasured now = measured(cost(8), gating);
    now.fault = "the block does not fit a multiprocessor";
    const ExactResult result = judge_costs({now}, file_of({cost(8)}));
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(holds(result.rows[0].message, "invalid: the block does not fit a multiprocessor"))
        << result.rows[0].message;
  }
}

TEST(ExactGate, WhatOnlyInformsFailsNobody) {
  const ExactResult result = judge_costs({measured(cost(16), Gating::never)}, file_of({cost(8)}));
  EXPECT_EQ(result.rows[0].verdict, Verdict::regressed);
  EXPECT_TRUE(result.rows[0].informs);
  EXPECT_EQ(result.exit_code, 77) << "nothing was judged";
}

TEST(ExactGate, CompilerDependentCountsGateUnderTheSameCounterOnly) {
  ExactMeasured now = measured(cost(16), Gating::same_counter);
  EXPECT_EQ(judge_costs({now}, file_of({cost(8)})).exit_code, 1);
  now.row.counter_id = "clang14";
  const ExactResult other = judge_costs({now}, file_of({cost(8)}));
  EXPECT_EQ(other.exit_code, 77) << "nothing was judged";
  EXPECT_TRUE(other.rows[0].informs);
  EXPECT_TRUE(holds(other.rows[0].message, "counted under clang14, the baseline under g++12"))
      << other.rows[0].message;
  now.gating = Gating::always;
  EXPECT_EQ(judge_costs({now}, file_of({cost(8)})).exit_code, 1) << "it depends on no compiler";
}

TEST(ExactGate, AMissingFileFailsLikeAMissingRow) {
  const ExactResult none = judge_costs({measured(cost(8))}, kNoFile);
  EXPECT_EQ(none.rows[0].verdict, Verdict::unblessed);
  EXPECT_EQ(none.exit_code, 1) << "a deleted baseline must not switch its gate off";
  ExactOptions options;
  options.unknown_compiler = true;
  const ExactResult other = judge_exact(cost_table(), {measured(cost(8))}, kNoFile, {}, options);
  EXPECT_EQ(other.exit_code, 77) << "nobody has blessed what this compiler makes";
  const ExactResult missing =
      judge_costs({measured(cost(8)), measured(cost(8, "atomics"))}, file_of({cost(8)}));
  EXPECT_EQ(missing.rows[1].verdict, Verdict::unblessed);
  EXPECT_EQ(missing.exit_code, 1);
  ExactOptions strict = kOptions;
  strict.strict = true;
  EXPECT_EQ(judge_costs({measured(cost(8))}, kNoFile, strict).exit_code, 1);
}

TEST(ExactGate, OrphansMalformedFilesAndNoRowsFail) {
  const ExactFile two = file_of({cost(8), cost(8, "atomics")});
  const ExactResult orphan = judge_costs({measured(cost(8))}, two);
  EXPECT_EQ(orphan.exit_code, 1);
  ASSERT_EQ(orphan.faults.size(), 1u);
  EXPECT_TRUE(holds(orphan.faults[0], "gemm.csv:2: the row 'gemm.f32.m64 tiled atomics'"));
  const Covers nothing = [](const ExactRow&) { return false; };
  EXPECT_EQ(judge_exact(cost_table(), {measured(cost(8))}, two, nothing, kOptions).exit_code, 0);

  ExactFile malformed = file_of({cost(8)});
  malformed.problems = {{"gemm.csv", 3, "wrong", "fix"}};
  const ExactResult unread = judge_costs({measured(cost(8))}, malformed);
  EXPECT_EQ(unread.rows[0].verdict, Verdict::invalid);
  EXPECT_EQ(unread.faults, (std::vector<std::string>{"gemm.csv:3: wrong; fix"}));
  EXPECT_EQ(unread.exit_code, 1);

  EXPECT_EQ(judge_costs({}, file_of({})).exit_code, 1);
  EXPECT_EQ(judge_costs({}, file_of({})).faults.size(), 1u);
  EXPECT_EQ(judge_costs({}, kNoFile).exit_code, 1);
  EXPECT_EQ(judge_costs({measured(cost(8)), measured(cost(8))}, file_of({cost(8)})).exit_code, 1)
      << "measured twice";
  EXPECT_EQ(verdict(8, std::numeric_limits<double>::quiet_NaN()).verdict, Verdict::invalid);
}

TEST(ExactGate, ResourcesThatCostSpeedFail) {
  EXPECT_EQ(resources(kernel()).verdict, Verdict::pass);
  EXPECT_EQ(resources(kernel_with(1, 16)).verdict, Verdict::regressed) << "spills";
  EXPECT_EQ(resources(kernel_with(2, 16)).verdict, Verdict::regressed) << "local memory";
  EXPECT_EQ(resources(kernel_with(3, 4096)).verdict, Verdict::regressed) << "static shared memory";
  EXPECT_EQ(resources(kernel_with(4, 1)).verdict, Verdict::regressed) << "dynamic shared memory";
  EXPECT_EQ(resources(kernel_with(6, 37.5)).verdict, Verdict::regressed) << "occupancy";
  EXPECT_EQ(resources(kernel_with(6, 37.5)).ratio, 0.75);
  EXPECT_EQ(resources(kernel_with(7, 1)).verdict, Verdict::regressed) << "split loads";
  EXPECT_EQ(resources(kernel_with(8, 2)).verdict, Verdict::regressed) << "split stores";
  EXPECT_TRUE(holds(resources(kernel_with(1, 16)).message,
                    "regressed: spill_bytes 0 -> 16; it spills where launch bounds leave"));
  EXPECT_TRUE(holds(resources(kernel_with(7, 1)).message,
                    "regressed: split_loads 0 -> 1; it loads 16 bytes by several narrower "
                    "accesses: load the vector into a variable first"));
  EXPECT_TRUE(holds(resources(kernel_with(8, 2)).message,
                    "regressed: split_stores 1 -> 2; it stores 16 bytes by several narrower "
                    "accesses: store the vector through store_wide or ptx::store_shared"));
  EXPECT_EQ(resources(kernel_with(8, 0)).verdict, Verdict::improved);
  EXPECT_FALSE(holds(resources(kernel_with(3, 1024)).message, "a larger tile"));
  EXPECT_EQ(resources(kernel_with(3, 1024)).verdict, Verdict::improved);
  EXPECT_EQ(resources(kernel_with(6, 62.5)).verdict, Verdict::improved);
  ExactRow mixed = kernel_with(3, 1024);
  mixed.values[1] = 4;
  EXPECT_EQ(resources(mixed).verdict, Verdict::regressed) << "better here does not pay for worse";
}

TEST(ExactGate, RegistersAndThreadsAloneInform) {
  const ExactVerdict more = resources(kernel_with(0, 80));
  EXPECT_EQ(more.verdict, Verdict::pass);
  EXPECT_TRUE(holds(plain_text({{more}, {}, 0}), "gemm.tiled: pass: registers 64 -> 80"));
  EXPECT_EQ(resources(kernel_with(5, 128)).verdict, Verdict::pass);
}

TEST(ExactGate, TheTextNamesWhatIsNotAsBlessed) {
  const ExactResult result =
      judge_costs({measured(cost(8)), measured(cost(9, "b"))}, file_of({cost(8), cost(8, "b")}));
  const std::string text = plain_text(result);
  EXPECT_FALSE(holds(text, "gemm.f32.m64 tiled sectors"));
  EXPECT_TRUE(holds(text, "gemm.f32.m64 tiled b: regressed"));
  EXPECT_TRUE(holds(text, "1 pass, 1 regressed (exit 1)\n")) << text;
  const std::string unblessed =
      plain_text(judge_costs({measured(cost(8)), measured(cost(9, "b"))}, kNoFile));
  EXPECT_TRUE(holds(unblessed, "sectors: unblessed")) << "the first";
  EXPECT_FALSE(holds(unblessed, " b: unblessed"));
  EXPECT_TRUE(holds(unblessed, "2 unblessed (exit 1)\n"));
  ExactMeasured never = measured(cost(9, "b"));
  never.gating = Gating::never;
  const std::string informs =
      plain_text(judge_costs({measured(cost(8)), never}, file_of({cost(8), cost(8, "b")})));
  EXPECT_TRUE(holds(informs, "1 pass; 1 informational (1 worse) (exit 0)\n")) << informs;
}

} // namespace
} // namespace kg::judge
