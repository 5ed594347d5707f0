// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/registers.h"

#include "perf/code/sass/pipes.h"
#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>

namespace kg::sass {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Instruction instruction(const std::string& text) { return test::function({text}).code.at(0); }
Registers of(const std::string& text) { return registers_of(instruction(text)); }

TEST(Registers, AreThoseOfAWideAccess) {
  EXPECT_THAT(of("LDG.E.128 R8, desc[UR8][R30.64+0x10]").written, ElementsAre(8, 9, 10, 11));
  EXPECT_THAT(of("LDG.E.128 R8, desc[UR8][R30.64+0x10]").read, ElementsAre(30, 31));
  EXPECT_THAT(of("STG.E.64 desc[UR8][R2.64], R4").read, ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(of("STG.E.64 desc[UR8][R2.64], R4").written, IsEmpty());
  EXPECT_THAT(of("LDS.128 R4, [R2+UR4+0x20]").read, ElementsAre(2));
  EXPECT_THAT(of("LDSM.16.MT88.2 R4, [R2]").written, ElementsAre(4, 5));
  EXPECT_THAT(of("LDGSTS.E.BYPASS.128.ZFILL [R5], desc[UR4][R6.64], P0").read,
              ElementsAre(5, 6, 7));
}

TEST(Registers, AreThoseOfArithmetic) {
  EXPECT_THAT(of("IADD3 R4, P0, R20, UR8, RZ").written, ElementsAre(4));
  EXPECT_THAT(of("IADD3 R4, P0, R20, UR8, RZ").predicates, ElementsAre("P0"));
  EXPECT_THAT(of("ISETP.GT.U32.AND P0, PT, R8, R9, PT").predicates, ElementsAre("P0", "PT"));
  EXPECT_THAT(of("ISETP.GT.U32.AND P0, PT, R8, R9, PT").read, ElementsAre(8, 9));
  EXPECT_THAT(of("IMAD.WIDE.U32 R8, R7, 0x10, R2").written, ElementsAre(8, 9));
  EXPECT_THAT(of("IMAD.WIDE.U32 R8, R7, 0x10, R2").read, ElementsAre(7, 2, 3));
  EXPECT_THAT(of("FMUL R3, |R5|, -R6").read, ElementsAre(5, 6));
  EXPECT_THAT(of("HADD2.F32 R3, -RZ, R5.H1_H1").read, ElementsAre(5));
  EXPECT_THAT(of("DFMA R4, R6, R8, R10").read, ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_THAT(of("F2F.F64.F32 R4, R6").written, ElementsAre(4, 5));
  EXPECT_THAT(of("F2F.F64.F32 R4, R6").read, ElementsAre(6));
  EXPECT_THAT(of("SHFL.BFLY PT, R5, R4, 0x10, 0x1f").written, ElementsAre(5));
  EXPECT_THAT(of("LOP3.LUT P0, R5, R4, 0x10, RZ, 0xc0, !PT").written, ElementsAre(5));
}

TEST(Registers, AreThoseOfAMatrixInstruction) {
  const Registers f16 = of("HMMA.16816.F32.BF16 R4, R8, R12, R4");
  EXPECT_THAT(f16.written, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(f16.read, ElementsAre(8, 9, 10, 11, 12, 13, 4, 5, 6, 7));
}

TEST(Pipes, ClassifyByTheOpcode) {
  EXPECT_EQ(pipe_of(instruction("FFMA R1, R2, R3, R4")), Pipe::fma);
  EXPECT_EQ(pipe_of(instruction("LOP3.LUT R1, R2, R3, RZ, 0xc0, !PT")), Pipe::alu);
  EXPECT_EQ(pipe_of(instruction("HFMA2 R1, R2, R3, R4")), Pipe::half);
  EXPECT_EQ(pipe_of(instruction("HFMA2.MMA R1, -RZ, RZ, 0, 0")), Pipe::fma);
  EXPECT_EQ(pipe_of(instruction("MUFU.EX2 R1, R2")), Pipe::xu);
  EXPECT_EQ(pipe_of(instruction("SHFL.BFLY PT, R5, R4, 0x10, 0x1f")), Pipe::lsu);
  EXPECT_EQ(pipe_of(instruction("HMMA.16816.F32 R4, R8, R12, R4")), Pipe::tensor);
  EXPECT_EQ(pipe_of(instruction("UIADD3 UR4, UR4, 0x1, URZ")), Pipe::uniform);
  EXPECT_EQ(pipe_of(instruction("BAR.SYNC.DEFER_BLOCKING 0x0")), Pipe::control);
  EXPECT_EQ(pipe_of(instruction("FROBNICATE R1")), Pipe::unknown);
}

TEST(Pipes, KnowWhatIsAccessed) {
  EXPECT_EQ(space_of(instruction("LDGSTS.E.BYPASS.128 [R5], desc[UR4][R6.64]")), Space::global);
  EXPECT_TRUE(is_load(instruction("LDGSTS.E.BYPASS.128 [R5], desc[UR4][R6.64]")));
  EXPECT_EQ(space_of(instruction("STS.64 [R5], R6")), Space::shared);
  EXPECT_TRUE(is_store(instruction("STS.64 [R5], R6")));
  EXPECT_EQ(bytes_moved(instruction("LDG.E.U16 R5, desc[UR4][R6.64]")), 2);
  EXPECT_EQ(bytes_moved(instruction("LDG.E.LTC128B.CONSTANT R5, desc[UR4][R6.64]")), 4);
  EXPECT_EQ(space_of(instruction("FADD R5, R6, R7")), Space::none);
}

TEST(Pipes, KnowConversionsOf16BitNumbers) {
  EXPECT_TRUE(is_conversion(instruction("IMAD.U32 R5, R4, 0x10000, RZ")));
  EXPECT_TRUE(is_conversion(instruction("PRMT R13, R8, 0x7632, R13")));
  EXPECT_TRUE(is_conversion(instruction("F2FP.BF16.F32.PACK_AB R17, RZ, R17")));
  EXPECT_TRUE(is_conversion(instruction("HADD2.F32 R3, -RZ, R5.H1_H1")));
  EXPECT_FALSE(is_conversion(instruction("IMAD.SHL.U32 R5, R4, 0x8, RZ")));
}

} // namespace
} // namespace kg::sass
