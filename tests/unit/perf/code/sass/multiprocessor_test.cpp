// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/multiprocessor.h"

#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>

namespace kg::sass {
namespace {

constexpr double kLatency = 500, kFromL2 = 200, kWidePort = 1e9;

Simulated run_of(const std::vector<std::string>& lines, const Residents& residents,
                 Pipe watched = Pipe::control, double port = kWidePort) {
  return simulate(steps_of(test::controlled(lines).code, {}, {}), {kLatency, kFromL2, port},
                  residents, watched);
}

double clocks(const std::vector<std::string>& lines, const Residents& residents) {
  return run_of(lines, residents).clocks;
}

double waited(const Simulated& run, Waits waits) {
  double sum = 0;
  for (const auto& [stand, share] : run.idle)
    if (stand.waits == waits) sum += share;
  return sum;
}

const std::string kLoad = "S02 W0 LDG.E R4, desc[UR8][R2.64]";
constexpr int kSchedulersWarps = 4; // one on each

TEST(Multiprocessor, AWarpStandsStillAsTheCompilerSays) {
  const std::vector<std::string> three = {"S04 FADD R0, R0, R1", "S04 FADD R0, R0, R1",
                                          "S04 FADD R0, R0, R1"};
  EXPECT_EQ(clocks(three, {1, 1}), 12);
  // Four warps of a scheduler fill the clocks of one another, eight take turns.
  EXPECT_EQ(clocks(three, {1, 4 * kSchedulersWarps}), 12);
  EXPECT_EQ(clocks(three, {1, 8 * kSchedulersWarps}), 24);
  const Simulated alone = run_of(three, {1, kSchedulersWarps});
  EXPECT_NEAR(waited(alone, Waits::stall), 0.75, 1e-9);
}

TEST(Multiprocessor, AWarpThatYieldsIssuesNothingInTheNextClock) {
  EXPECT_EQ(clocks({"Y FADD R0, R1, R2"}, {1, 1}), 2);
  EXPECT_EQ(clocks({"FADD R0, R1, R2"}, {1, 1}), 1);
}

TEST(Multiprocessor, APipeTakesItsClocks) {
  const Simulated alu =
      run_of({"IADD3 R0, R1, R2, R3", "IADD3 R4, R1, R2, R3"}, {1, kSchedulersWarps});
  EXPECT_EQ(alu.clocks, 4);
  EXPECT_NEAR(waited(alu, Waits::pipe), 0.5, 1e-9);
}

TEST(Multiprocessor, DataComeWhenTheyDo) {
  // Issued at 0, there at 500, four clocks for the sum.
  const std::vector<std::string> load = {kLoad, "S04 B0 FADD R0, R4, R0"};
  const Simulated alone = run_of(load, {1, 1});
  EXPECT_EQ(alone.clocks, kLatency + 4);
  ASSERT_FALSE(alone.idle.empty());
  for (const auto& [stand, share] : alone.idle) {
    if (stand.waits != Waits::loaded) continue;
    EXPECT_EQ(stand.step, 1u);
    EXPECT_EQ(stand.behind, 0u) << "the load";
  }
  EXPECT_NEAR(waited(alone, Waits::loaded), (kLatency - 2) / (kLatency + 4), 1e-9);
  // Two are under way, each asked for two clocks behind the sum that used the one before.
  EXPECT_EQ(clocks({"S02 B0 FADD R0, R4, R0", kLoad, "S02 B1 FADD R0, R5, R0",
                    "S02 W1 LDG.E R5, desc[UR8][R2.64+0x4]"},
                   {1, 1}),
            kLatency + 2);
}

TEST(Multiprocessor, APortTakesTurns) {
  // 128 bytes of each of four warps, 64 a clock: the last has its data six clocks after the first.
  EXPECT_NEAR(
      run_of({kLoad, "S04 B0 FADD R0, R4, R0"}, {1, kSchedulersWarps}, Pipe::control, 0.5).clocks,
      4 * 128 / 0.5, 1);
}

TEST(Multiprocessor, LoadsThatComeAgainAreL2s) {
  const std::vector<Instruction> code = test::controlled({kLoad, "S04 B0 FADD R0, R4, R0"}).code;
  EXPECT_EQ(
      simulate(steps_of(code, {}, {true, false}), {kLatency, kFromL2, kWidePort}, {1, 1}).clocks,
      kFromL2 + 4);
}

TEST(Multiprocessor, OperandsAreReadBeforeTheyAreOverwritten) {
  // A store of four bytes has read its registers after 14 clocks.
  const Simulated store =
      run_of({"S01 R0 STG.E desc[UR8][R2.64], R4", "S04 B0 MOV R4, R5"}, {1, 1});
  EXPECT_EQ(store.clocks, 14 + 4);
  EXPECT_GT(waited(store, Waits::operands), 0);
}

TEST(Multiprocessor, ABarrierReleasesAllWarpsWhenTheLastHasCome) {
  const std::vector<std::string> lines = {"S05 BAR.SYNC.DEFER_BLOCKING 0x0", "S04 FADD R0, R1, R2"};
  EXPECT_EQ(clocks(lines, {1, 1}), 21 + 2 + 4);
  const Simulated four = run_of(lines, {1, kSchedulersWarps});
  EXPECT_EQ(four.clocks, 21 + 4 * 2 + 4);
  EXPECT_GT(waited(four, Waits::barrier), 0.5);
  for (const auto& [stand, share] : four.idle) {
    if (stand.waits != Waits::barrier) continue;
    EXPECT_EQ(stand.behind, 0u) << "the barrier itself";
  }
  // Two blocks of two warps do not meet, and come when the barriers' unit is done with the other.
  EXPECT_EQ(clocks(lines, {2, 2}), 21 + 2 * 2 + 4);
}

TEST(Multiprocessor, CopiesAreWaitedForInGroups) {
  const std::string copy = "S01 LDGSTS.E.BYPASS.128 [R5], desc[UR4][R6.64]",
                    close = "S01 W0 LDGDEPBAR";
  EXPECT_EQ(clocks({copy, close, "S04 DEPBAR.LE SB0, 0x0"}, {1, 1}), kLatency + 4);
  // One group may be under way: each has two passes' time.
  EXPECT_EQ(clocks({copy, close, "S04 DEPBAR.LE SB0, 0x1"}, {1, 1}), (kLatency + 4) / 2);
}

TEST(Multiprocessor, AccessesQueueInFrontOfTheirUnit) {
  const std::vector<std::string> narrow(7, "LDS R0, [R1]");
  const Simulated one = run_of(narrow, {1, 1});
  EXPECT_EQ(one.clocks, 7 * 4) << "an address takes a scheduler four clocks";
  EXPECT_GT(waited(one, Waits::queue), 0);
  // 512 bytes take shared memory four clocks, whoever asks.
  EXPECT_EQ(clocks({"LDS.128 R0, [R4]"}, {1, kSchedulersWarps}), 16);
}

TEST(Multiprocessor, ClocksOfAPipeThatIsWatched) {
  const Simulated run =
      run_of({"S15 Y HMMA.16816.F32.BF16 R0, R4, R6, R0"}, {1, kSchedulersWarps}, Pipe::tensor);
  EXPECT_EQ(run.clocks, 15);
  EXPECT_NEAR(waited(run, Waits::stall), 1 - 4096 / Rates().matrix_16bit / 15, 0.07)
      << "in whole clocks";
}

TEST(Multiprocessor, WhereThereIsNoLoopABlockFollowsTheNext) {
  const std::vector<std::string> lines = {kLoad, "S04 B0 FADD R0, R4, R0", "S05 EXIT"};
  EXPECT_EQ(clocks(lines, {1, 1, true}), kLatency + 4 + 5);
}

TEST(Steps, TheWideAccessIsExecutedAndNotItsElements) {
  const std::vector<Step> steps = steps_of(
      test::controlled({"@P2 LDG.E R4, desc[UR6][R28.64]", "@!P2 LDG.E.128 R4, desc[UR6][R28.64]",
                        "@P3 LDG.E R8, desc[UR6][R28.64]", "@!PT LDS RZ, [RZ]"})
          .code,
      {}, {});
  ASSERT_EQ(steps.size(), 4u);
  EXPECT_EQ(steps[0].kind, Step::Kind::nothing);
  EXPECT_EQ(steps[1].kind, Step::Kind::load);
  EXPECT_EQ(steps[1].bytes, 512);
  EXPECT_EQ(steps[2].kind, Step::Kind::load);
  EXPECT_EQ(steps[3].kind, Step::Kind::nothing);
  EXPECT_TRUE(steps[3].queued) << "a turn of the load/store unit";
  EXPECT_EQ(steps[3].clocks, Rates().lsu);
  EXPECT_EQ(steps[3].transfer, 0);
}

TEST(Steps, WhatIsNotModelledHasNone) {
  EXPECT_TRUE(steps_of(test::function({"FADD R0, R1, R2"}).code, {}, {}).empty())
      << "no control codes";
  EXPECT_TRUE(steps_of(test::controlled({"UBLKCP [UR4], [UR6], UR8"}).code, {}, {}).empty());
}

} // namespace
} // namespace kg::sass
