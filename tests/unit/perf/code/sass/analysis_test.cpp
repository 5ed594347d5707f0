// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/analysis.h"

#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>

namespace kg::sass {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Analysis analysis(std::string_view part) {
  for (Analysis& one : analyse(test::kernels()))
    if (one.symbol.find(part) != std::string::npos) return one;
  throw Error("kernels.sass holds no such kernel");
}

TEST(Analysis, KnowsAllOpcodesOfTheTestsKernels) {
  const std::vector<Analysis> all = analyse(test::kernels());
  ASSERT_EQ(all.size(), 3u);
  for (const Analysis& one : all) EXPECT_THAT(one.unknown, IsEmpty());
}

TEST(Analysis, CountsOpcodesThatTheTableLacks) {
  const auto found = analyse(test::functions({"FROB R1, R2", "FROB R2, R1", "EXIT"}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].unknown, ElementsAre(Pair("FROB", 2)));
}

TEST(Analysis, FourLoadsAreUnderWayTogether) {
  const Analysis found = analysis("together");
  const Part& part = found.main_part();
  EXPECT_EQ(part.depth, 0);
  EXPECT_EQ(part.global.loaded, 64);
  EXPECT_THAT(part.global.loads, ElementsAre(Pair(16, 4)));
  EXPECT_THAT(part.global.stores, ElementsAre(Pair(16, 4)));
  EXPECT_EQ(part.flight.round_trips, 1);
  EXPECT_EQ(part.flight.bytes_in_flight(), 64);
  EXPECT_EQ(part.conversions, 0);
}

// The finding that this was made for: a pack is converted inside the branch that guards its load.
TEST(Analysis, PacksThatAreConvertedInTheirBranchAreLoadedOneByOne) {
  const Analysis found = analysis("one_by_one");
  const Part& part = found.main_part();
  EXPECT_EQ(part.depth, 0) << "the loops take the ragged end";
  EXPECT_THAT(part.global.loads, ElementsAre(Pair(16, 2)));
  EXPECT_EQ(part.flight.round_trips, 2);
  EXPECT_EQ(part.flight.bytes_in_flight(), 16);
  EXPECT_EQ(part.conversions, 16);
  ASSERT_FALSE(part.flight.waits.empty());
  EXPECT_EQ(part.flight.waits[0].line, "kernels.cu:29");
  EXPECT_EQ(part.flight.waits[0].used_at, "kernels.cu:33");
}

TEST(Analysis, FindsDivisions) {
  const Analysis found = analysis("divided");
  ASSERT_EQ(found.parts.size(), 3u);
  EXPECT_EQ(found.main, 2u);
  const std::vector<Call>& inner = found.parts[2].calls;
  ASSERT_EQ(inner.size(), 1u);
  EXPECT_EQ(inner[0].callee, "__cuda_sm3x_div_rn_noftz_f32_slowpath");
  EXPECT_TRUE(inner[0].slow_path);
  EXPECT_FALSE(inner[0].on_main_path);
  EXPECT_EQ(inner[0].line, "kernels.cu:47");
  EXPECT_EQ(found.parts[2].integer_divisions, 0);
  EXPECT_EQ(found.parts[1].calls.size(), 2u);
  EXPECT_EQ(found.parts[1].integer_divisions, 1) << "the 32-bit one on the fast path";
}

TEST(Analysis, TheMainPartIsNotTheLoopOverARaggedEnd) {
  // 16 bytes at once; then 8 times as many passes, as a loop's are taken for, of 4 times 2.
  std::vector<std::string> lines = {"LDG.E.128 R8, desc[UR8][R2.64]", ".L_1:"};
  lines.insert(lines.end(), 4, "LDG.E.U16 R4, desc[UR8][R2.64]");
  lines.insert(lines.end(), {"@P0 BRA `(.L_1)", "EXIT"});
  const auto found = analyse(test::functions(lines));
  EXPECT_EQ(found.at(0).main, 0u);
}

TEST(Analysis, TheMainPartIsNotTheUnrolledRestOfALoop) {
  // A loop with two loads under way; behind it the loop over what is left, which nvcc has unrolled.
  std::vector<std::string> lines = {".L_1:",
                                    "LDG.E.128 R8, desc[UR8][R2.64]",
                                    "LDG.E.128 R12, desc[UR8][R4.64]",
                                    "STG.E.128 desc[UR8][R6.64], R8",
                                    "STG.E.128 desc[UR8][R6.64+0x10], R12",
                                    "@P0 BRA `(.L_1)",
                                    ".L_2:"};
  for (int i = 0; i < 4; ++i)
    lines.insert(lines.end(), {"LDG.E.128 R8, desc[UR8][R2.64]", "STG.E.128 desc[UR8][R6.64], R8"});
  lines.insert(lines.end(), {"@P1 BRA `(.L_2)", "EXIT"});
  const auto found = analyse(test::functions(lines));
  EXPECT_EQ(found.at(0).main_part().flight.bytes_in_flight(), 32);
}

TEST(Analysis, AddsUpWhatEachPipeIsBusy) {
  const auto found =
      analyse(test::functions({"FADD R1, R2, R3", "MUFU.EX2 R1, R1", "MUFU.EX2 R2, R2",
                               "@P0 LOP3.LUT R1, R1, R2, RZ, 0xc0, !PT", "EXIT"}));
  const Part& part = found.at(0).main_part();
  EXPECT_EQ(part.instructions, 5);
  EXPECT_EQ(part.predicated, 1);
  EXPECT_EQ(part.by_pipe[static_cast<std::size_t>(Pipe::xu)], 2);
  EXPECT_EQ(part.busiest(), std::pair(Pipe::xu, 16.0));
  EXPECT_FALSE(part.is_issue_bound());
}

TEST(Analysis, ACallOnTheMainPathCountsWithItsSubroutine) {
  const std::vector<Function> all =
      read_listing("\t.section .text.k\n\t.type k,@function\n/*00*/ CALL.REL.NOINC `(s) ;\n/*10*/ "
                   "EXIT ;\n\t.type s,@function\n/*20*/ NOP ;\n/*30*/ RET ;\n",
                   "made");
  const Part part = analyse(all).at(0).main_part();
  EXPECT_EQ(part.instructions, 4);
  ASSERT_EQ(part.calls.size(), 1u);
  EXPECT_TRUE(part.calls[0].on_main_path);
  EXPECT_FALSE(part.calls[0].slow_path);
}

} // namespace
} // namespace kg::sass
