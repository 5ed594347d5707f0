// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/trips.h"

#include "tests/unit/perf/code/sass/code.h"

#include <gtest/gtest.h>

namespace kg::sass {
namespace {

using count::Access;
using count::Memory;

std::string at(int line) { return fmt::format("//## File \"/src/k.cu\", line {}", line); }

count::Site site(int line, Memory memory, Access access, unsigned width, std::uint64_t requests) {
  count::Site made;
  made.line = fmt::format("src/k.cu:{}", line);
  made.memory = memory;
  made.access = access;
  made.width = width;
  made.requests = made.wavefronts = requests;
  return made;
}

// 10 blocks of 2 warps.
count::Launch launch(std::vector<count::Site> sites) {
  count::Launch made;
  made.grid = {10, 1, 1};
  made.block = {64, 1, 1};
  made.sites = std::move(sites);
  return made;
}

double instructions(const std::vector<std::string>& lines, const count::Launch& ran) {
  return executed(test::function(lines), ran, {}).instructions;
}

const std::vector<std::string> kLoop = {
    at(1), "MOV R0, RZ",          ".L_1:",           at(2), "LDG.E R4, desc[UR4][R2.64]",
    at(3), "FFMA R5, R4, R4, R5", "@P0 BRA `(.L_1)", at(4), "STG.E desc[UR4][R6.64], R5",
    "EXIT"};

TEST(Trips, AWarpRunsStraightCodeOnce) {
  EXPECT_EQ(instructions({at(1), "MOV R0, RZ", "EXIT"}, launch({})), 20 * 2);
}

TEST(Trips, ALoopRunsAsOftenAsItsLoadsWereCounted) {
  const auto loads = launch({site(2, Memory::global, Access::load, 4, 20 * 100),
                             site(4, Memory::global, Access::store, 4, 20)});
  EXPECT_EQ(instructions(kLoop, loads), 20 * (1 + 100 * 3 + 2));
  // Nothing is known of it: once.
  EXPECT_EQ(instructions(kLoop, launch({})), 20 * (1 + 3 + 2));
}

TEST(Trips, WiderAccessesAreFewer) {
  std::vector<std::string> wide = kLoop;
  wide[4] = "LDG.E.128 R4, desc[UR4][R2.64]";
  const auto loads = launch({site(2, Memory::global, Access::load, 4, 20 * 100)});
  EXPECT_EQ(instructions(wide, loads), 20 * (1 + 25 * 3 + 2));
}

TEST(Trips, TheUnrolledLoopRanAndNotItsRest) {
  const std::vector<std::string> code = {".L_1:",
                                         at(2),
                                         "LDG.E R4, desc[UR4][R2.64]",
                                         "LDG.E R5, desc[UR4][R2.64+0x4]",
                                         "@P0 BRA `(.L_1)",
                                         ".L_2:",
                                         at(2),
                                         "LDG.E R4, desc[UR4][R2.64]",
                                         "@P1 BRA `(.L_2)",
                                         at(3),
                                         "EXIT"};
  const auto loads = launch({site(2, Memory::global, Access::load, 4, 20 * 100)});
  EXPECT_EQ(instructions(code, loads), 20 * (50 * 3 + 1));
}

TEST(Trips, ABranchRunsForTheWarpsThatTakeIt) {
  const std::vector<std::string> code = {".L_1:",
                                         at(2),
                                         "@P0 BRA `(.L_2)",
                                         at(3),
                                         "LDS R4, [R2]",
                                         "STS [R2], R4",
                                         ".L_2:",
                                         at(5),
                                         "BAR.SYNC.DEFER_BLOCKING 0x0",
                                         "@P1 BRA `(.L_1)",
                                         at(6),
                                         "EXIT"};
  count::Launch ran = launch({site(3, Memory::shared, Access::load, 4, 30),
                              site(3, Memory::shared, Access::store, 4, 30)});
  ran.barriers_at = {{"src/k.cu:5", 10 * 8}}; // eight rounds of each block
  // Of the loop's block without accesses as many as of its barriers.
  EXPECT_EQ(instructions(code, ran), 160 * 1 + 30 * 2 + 160 * 2 + 20);
}

TEST(Trips, PipesTakeTheirClocks) {
  const auto loads = launch({site(2, Memory::global, Access::load, 4, 20 * 100)});
  const Rates slow{.fma = 2, .lsu = 8};
  const Executed found = executed(test::function(kLoop), loads, slow);
  EXPECT_EQ(found.clocks[static_cast<std::size_t>(Pipe::fma)], 2000 * 2);
  EXPECT_EQ(found.clocks[static_cast<std::size_t>(Pipe::lsu)], (2000 + 20) * 8);
  EXPECT_EQ(found.issue_clocks(), (2000 + 20) * 8);
}

TEST(Trips, AccessesThatPtxasMergedTakeThePassesOfMergedOnes) {
  count::Site loads = site(3, Memory::shared, Access::load, 4, 400);
  loads.wavefronts_16 = 800;
  const count::Launch merged =
      as_compiled(launch({loads}), test::function({at(3), "LDS.128 R4, [R2]", "EXIT"}));
  ASSERT_EQ(merged.sites.size(), 1u);
  EXPECT_EQ(merged.sites[0].width, 16u);
  EXPECT_EQ(merged.sites[0].requests, 100u);
  EXPECT_EQ(merged.sites[0].wavefronts, 200u);
  const count::Launch same =
      as_compiled(launch({loads}), test::function({at(3), "LDS R4, [R2]", "EXIT"}));
  EXPECT_EQ(same.sites[0].requests, 400u);
  EXPECT_EQ(same.sites[0].wavefronts, 400u);
}

} // namespace
} // namespace kg::sass
