// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/flow.h"

#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>

namespace kg::sass {
namespace {

using test::function;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> opcodes(const Function& made, const Region& region) {
  std::vector<std::string> found;
  for (const std::size_t at : main_path(made, flow_of(made), region))
    found.push_back(made.code[at].opcode);
  return found;
}

TEST(Flow, FindsNestedLoops) {
  const Function made = test::kernel("divided");
  const Flow flow = flow_of(made);
  ASSERT_EQ(flow.regions.size(), 3u);
  EXPECT_EQ(flow.regions[0].depth, 0);
  EXPECT_EQ(flow.regions[1].depth, 1);
  EXPECT_EQ(flow.regions[2].depth, 2);
  EXPECT_FALSE(flow.regions[1].innermost);
  EXPECT_TRUE(flow.regions[2].innermost);
  EXPECT_EQ(made.code[flow.blocks[flow.regions[2].entry].begin].address, 0xf0u);
}

TEST(Flow, ABlockEndsAtABranchAndBeginsAtALabel) {
  const Function made = function({"NOP", "@P0 BRA `(.L_1)", "MOV R1, R2", ".L_1:", "EXIT"});
  const Flow flow = flow_of(made);
  ASSERT_EQ(flow.blocks.size(), 3u);
  EXPECT_THAT(flow.blocks[0].next, testing::UnorderedElementsAre(1u, 2u));
  EXPECT_THAT(flow.blocks[1].next, ElementsAre(2u));
  EXPECT_THAT(flow.blocks[2].next, testing::IsEmpty());
  EXPECT_EQ(flow.regions.size(), 1u);
}

TEST(Flow, ThreadsMeetWhereTheirBarrierSays) {
  const Function made = function(
      {"BSSY B0, `(.L_2)", "@P0 BRA `(.L_1)", "BSYNC B0", ".L_1:", "NOP", ".L_2:", "EXIT"});
  EXPECT_THAT(flow_of(made).blocks[1].next, ElementsAre(3u));
}

TEST(Flow, ABranchToNowhereIsAnError) {
  try {
    flow_of(function({"BRA `(.L_9)"}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(".L_9"));
  }
}

TEST(MainPath, TakesTheWholePackAndNotItsElements) {
  const Function made = function({"@P0 BRA `(.L_1)", "LDG.E.128 R8, desc[UR8][R2.64]",
                                  "BRA `(.L_2)", ".L_1:", "LDG.E R8, desc[UR8][R2.64]",
                                  "LDG.E R9, desc[UR8][R2.64+0x4]", ".L_2:", "EXIT"});
  EXPECT_THAT(opcodes(made, flow_of(made).regions[0]), ElementsAre("BRA", "LDG", "BRA", "EXIT"));
}

// As nvcc lifts the whole pack's load out of its branch.
TEST(MainPath, APredicatedLoadBelongsToThePathThatExecutesIt) {
  const Function made = function(
      {"ISETP.GT.AND P0, PT, R0, R1, PT", "@!P0 LDG.E.128 R8, desc[UR8][R2.64]", "@P0 BRA `(.L_1)",
       "BRA `(.L_2)", ".L_1:", "LDG.E R8, desc[UR8][R2.64]", ".L_2:", "EXIT"});
  EXPECT_THAT(opcodes(made, flow_of(made).regions[0]),
              ElementsAre("ISETP", "LDG", "BRA", "BRA", "EXIT"));
}

TEST(MainPath, APredicateThatIsWrittenAgainRulesNothingOut) {
  const Function made = function(
      {"@!P0 LDG.E.128 R8, desc[UR8][R2.64]", "ISETP.GT.AND P0, PT, R0, R1, PT", "@P0 BRA `(.L_1)",
       "BRA `(.L_2)", ".L_1:", "LDG.E R8, desc[UR8][R2.64]", ".L_2:", "EXIT"});
  EXPECT_THAT(opcodes(made, flow_of(made).regions[0]),
              ElementsAre("LDG", "ISETP", "BRA", "LDG", "EXIT"));
}

TEST(MainPath, TakesNarrowStoresBesideWideOnes) {
  const Function made = function({"STG.E desc[UR8][R4.64], R8", "@P0 BRA `(.L_1)",
                                  "STG.E.U16 desc[UR8][R2.64], R8", ".L_1:", "EXIT"});
  EXPECT_THAT(opcodes(made, flow_of(made).regions[0]), ElementsAre("STG", "BRA", "STG", "EXIT"));
}

TEST(MainPath, PassesByTheSlowPathAndTheSubroutine) {
  const Function made =
      function({"FCHK P0, R1, R2", "@!P0 BRA `(.L_1)", "NOP", "NOP", ".L_1:", "EXIT"});
  EXPECT_THAT(opcodes(made, flow_of(made).regions[0]), ElementsAre("FCHK", "BRA", "EXIT"));
  const Function divided = test::kernel("divided");
  EXPECT_THAT(opcodes(divided, flow_of(divided).regions[2]),
              testing::Not(testing::Contains("CALL")));
}

TEST(MainPath, OfALoopEndsWhereItGoesBack) {
  const Function made =
      function({"NOP", ".L_1:", "LDG.E R8, desc[UR8][R2.64]", "@P1 BRA `(.L_1)", "EXIT"});
  const Flow flow = flow_of(made);
  ASSERT_EQ(flow.regions.size(), 2u);
  EXPECT_THAT(opcodes(made, flow.regions[1]), ElementsAre("LDG", "BRA"));
}

} // namespace
} // namespace kg::sass
