// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/listing.h"

#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>

namespace kg::sass {
namespace {

using test::function;
using testing::ElementsAre;
using testing::HasSubstr;

std::string message(const std::string& text) {
  try {
    read_listing(text, "a.cubin");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Listing, HoldsKernelsAndTheSubroutinesBehindThem) {
  std::vector<std::string> symbols, kernels;
  for (const Function& one : test::kernels()) {
    symbols.push_back(one.symbol);
    kernels.push_back(one.kernel);
  }
  EXPECT_THAT(symbols,
              ElementsAre("_ZN2kg4read7dividedEPKfPfxx", "$__internal_0_$__cuda_sm20_div_s64",
                          "$__internal_1_$__cuda_sm3x_div_rn_noftz_f32_slowpath",
                          "_ZN2kg4read10one_by_oneEPK13__nv_bfloat16Pfi",
                          "_ZN2kg4read8togetherEPK6float4PS1_"));
  EXPECT_EQ(kernels[2], kernels[0]);
  EXPECT_EQ(kernels[3], symbols[3]);
}

// As nvdisasm writes them of sm_90a with -hex; what stands for what is in control.cpp.
TEST(Listing, ReadsControlCodes) {
  const std::string text =
      "\t.section\t.text.made,\"ax\",@progbits\n\t.type made,@function\nmade:\n"
      "/*1c30*/ LDSM.16.MT88.4 R184, [R184+0x2000] ;  /* 0x00200000b8b8783b */\n"
      "                                               /* 0x000ea80000004200 */\n"
      "/*1e40*/ HMMA.16816.F32.BF16 R48, R40, R46, R48 ;  /* 0x0000002e2830723c */\n"
      "                                                   /* 0x00efde0000041830 */\n";
  const std::vector<Instruction> code = read_listing(text, "a").at(0).code;
  ASSERT_EQ(code.size(), 2u);
  EXPECT_THAT(code[0].operands, ElementsAre("R184", "[R184+0x2000]"));
  const Control load = code[0].control.value(), multiply = code[1].control.value();
  EXPECT_EQ(load.stall, 4);
  EXPECT_FALSE(load.yield);
  EXPECT_EQ(load.writes, 2);
  EXPECT_EQ(load.reads, -1);
  EXPECT_EQ(load.wait, 0u);
  EXPECT_EQ(multiply.stall, 15);
  EXPECT_TRUE(multiply.yield);
  EXPECT_EQ(multiply.writes, -1);
  EXPECT_EQ(multiply.wait, 1u << 1 | 1u << 2 | 1u << 3);
  EXPECT_FALSE(function({"FADD R0, R1, R2"}).code[0].control) << "a text without words";
  EXPECT_THAT(message("/* 0x000ea80000004200 */\n"), HasSubstr("a word without its instruction"));
}

TEST(Listing, ReadsAnInstruction) {
  const Function made = test::kernel("divided");
  const Instruction& load = made.code.at(17);
  EXPECT_EQ(load.address, 0x110u);
  EXPECT_EQ(load.opcode, "LDG");
  EXPECT_THAT(load.modifiers, ElementsAre("E"));
  EXPECT_THAT(load.operands, ElementsAre("R0", "desc[UR12][R6.64]"));
  EXPECT_EQ(load.line, "kernels.cu:47");
  EXPECT_EQ(load.guard, "");
  EXPECT_EQ(made.code.at(29).guard, "!P0");
  EXPECT_EQ(made.labels.at(".L_x_1"), 15u);
}

TEST(Listing, ACallKnowsHowLongItsSubroutineIs) {
  const std::vector<Function> all = test::kernels();
  const Instruction& call = all[0].code.at(31);
  EXPECT_EQ(callee_of(call), all[2].symbol);
  EXPECT_EQ(call.called, all[2].code.size());
  EXPECT_GT(call.called, 50u);
  EXPECT_EQ(callee_of(function({"CALL.ABS.NOINC R4"}).code[0]), "");
}

TEST(Listing, TakesTheInnermostLineThatIsNotTheToolkits) {
  const Function made = function(
      {"//## File \"/usr/local/cuda/targets/x86_64-linux/include/cuda_bf16.hpp\", line 585 inlined "
       "at \"/a/row.h\", line 27",
       "//## File \"/a/row.h\", line 27 inlined at \"/a/softmax.cu\", line 43",
       "//## File \"/a/softmax.cu\", line 43", "NOP", "//## File \"/a/softmax.cu\", line 50",
       "EXIT"});
  EXPECT_EQ(made.code[0].line, "row.h:27");
  EXPECT_EQ(made.code[0].kernel_line, "softmax.cu:43");
  EXPECT_EQ(made.code[1].line, "softmax.cu:50");
}

TEST(Listing, ReadsTheTargetsOfAnIndirectBranch) {
  const Function made =
      function({"BRX R16 -0x80d0   (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)", ".L_x_1:", "NOP",
                ".L_x_2:", "IMAD.WIDE R4.reuse, R2, c[0x0][0x4], R8"});
  EXPECT_THAT(made.code[0].operands, ElementsAre("R16 -0x80d0", "`(.L_x_1)", "`(.L_x_2)"));
  EXPECT_THAT(made.code[2].operands, ElementsAre("R4", "R2", "c[0x0][0x4]", "R8"));
}

TEST(Listing, NamesTheLineThatItCannotRead) {
  const std::string begin = "\t.type a,@function\na:\n";
  EXPECT_THAT(message(begin + "/*0000*/ NOP"),
              AllOf(HasSubstr("a.cubin: line 3"), HasSubstr("does not end with ';'")));
  EXPECT_THAT(message(begin + "/*zz*/ NOP ;"), HasSubstr("without an address"));
  EXPECT_THAT(message(begin + "/*0000*/ ;"), HasSubstr("without an opcode"));
  EXPECT_THAT(message("/*0000*/ NOP ;"), HasSubstr("outside of any function"));
  EXPECT_THAT(message(begin + ".L_1:\n.L_1:\n"), HasSubstr(".L_1 occurs twice"));
}

} // namespace
} // namespace kg::sass
