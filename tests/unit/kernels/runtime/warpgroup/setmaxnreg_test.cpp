// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// setmaxnreg in PTX: what a block's registers are enough for.
#include "tests/unit/kernels/runtime/executor_support.h"
#include "tests/unit/kernels/runtime/ptx_snippet.h"

#include <gmock/gmock.h>

namespace kg::warpgroup {
namespace {

using executor::error_of;
using executor::under_every_order;
using testing::AllOf;
using testing::HasSubstr;

// The first 128 threads decrease, the others increase.
std::string found(unsigned least, unsigned most, unsigned threads = 384,
                  const std::string& directives = ".maxntid 512 .minnctapersm 1") {
  const std::string body = fmt::format("setp.lt.u32 %p1, %lane, 128; @%p1 bra FEW; "
                                       "setmaxnreg.inc.sync.aligned.u32 {}; bra OVER; "
                                       "FEW: setmaxnreg.dec.sync.aligned.u32 {}; OVER: "
                                       "st.global.u32 [%out], %lane;",
                                       most, least);
  std::string all;
  under_every_order(
      [&] { all += error_of([&] { ptx_run::run(body, {0}, threads, "", 1, directives); }); });
  return all;
}

TEST(Setmaxnreg, SumsThatFit) {
  EXPECT_EQ(found(40, 232), "");
  EXPECT_EQ(found(24, 240), "");
  EXPECT_EQ(found(32, 160, 512), "");
  EXPECT_EQ(found(40, 160), ""); // the kernel may begin with fewer than are thought
}

TEST(Setmaxnreg, SumsThatDoNot) {
  EXPECT_THAT(found(24, 256), AllOf(HasSubstr("deadlock"), HasSubstr("setmaxnreg.inc"),
                                    HasSubstr("for 24 x 128 + 256 x 256 = 68608 of the block's "
                                              "64512 registers")));
  EXPECT_THAT(found(40, 248), HasSubstr("40 x 128 + 248 x 256 = 68608"));
}

// ptxas (13.0) ignores it where it cannot determine the registers at entry: remark C7508.
TEST(Setmaxnreg, CountsForNothingWithoutARegisterCountAtEntry) {
  EXPECT_EQ(found(24, 256, 384, ""), "");
  EXPECT_EQ(found(24, 256, 384, ".maxntid 384"), "");
  EXPECT_THAT(found(24, 256, 384, ".maxnreg 168"), HasSubstr("deadlock"));
}

TEST(Setmaxnreg, CountsThatMeanNothing) {
  EXPECT_THAT(found(20, 232), HasSubstr("it is a multiple of 8 from 24 to 256"));
  EXPECT_THAT(found(176, 232), HasSubstr("by a thread that has 168 registers"));
}

} // namespace
} // namespace kg::warpgroup
