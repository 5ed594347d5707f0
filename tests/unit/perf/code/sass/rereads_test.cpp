// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/sass/rereads.h"

#include "tests/unit/perf/code/sass/code.h"

#include <gmock/gmock.h>

namespace kg::sass {
namespace {

using testing::ElementsAre;

std::vector<bool> rereads(const std::vector<std::string>& lines) {
  return rereads_of(test::function(lines).code);
}

TEST(Rereads, AnAddressThatThePassBeforeHadToo) {
  EXPECT_THAT(rereads({"LDG.E.128 R4, desc[UR8][R2.64]", "LDG.E.128 R8, desc[UR8][R12.64]",
                       "IADD3 R2, P0, R2, R14, RZ", "IADD3.X R3, R3, R15, RZ, P0, !PT"}),
              ElementsAre(false, true, false, false));
}

TEST(Rereads, WhatIsComputedFromWhatAPassHandsOnDiffers) {
  EXPECT_THAT(
      rereads({"IMAD R6, R20, 0x10, R21", "IMAD R16, R22, 0x10, R21", "LDG.E R4, desc[UR8][R6.64]",
               "LDG.E R5, desc[UR8][R16.64]", "IADD3 R20, R20, 0x1, RZ"}),
      ElementsAre(false, false, false, true, false));
}

TEST(Rereads, UniformRegistersCount) {
  EXPECT_THAT(rereads({"LDG.E R4, desc[UR8][R6.64+UR4]", "UIADD3 UR4, UR4, 0x100, URZ"}),
              ElementsAre(false, false));
}

TEST(Rereads, DataThatWereLoadedMayDiffer) {
  EXPECT_THAT(rereads({"MOV R6, R20", "LDG.E R4, desc[UR8][R6.64]"}), ElementsAre(false, true));
  EXPECT_THAT(rereads({"LDS R6, [R20]", "LDG.E R4, desc[UR8][R6.64]"}), ElementsAre(false, false));
}

TEST(Rereads, ARegisterIsUsedAgain) {
  // R6 holds what differs, then what does not.
  EXPECT_THAT(rereads({"MOV R6, R20", "STG.E desc[UR8][R6.64], R9", "MOV R6, R22", "MOV R7, R23",
                       "LDG.E R4, desc[UR8][R6.64]", "IADD3 R20, R20, 0x1, RZ"}),
              ElementsAre(false, false, false, false, true, false));
}

} // namespace
} // namespace kg::sass
