// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cost {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

count::Launch with_atomics(std::uint64_t lanes, std::uint64_t addresses) {
  count::Launch launch;
  launch.kernel = "count";
  launch.grid = {132 * 64, 1, 1};
  launch.block = {128, 1, 1};
  launch.sites.push_back({.line = "count.cu:7", .access = count::Access::atomic});
  launch.sites.back().lanes = lanes;
  launch.sites.back().addresses = addresses;
  return launch;
}

TEST(Advice, NamesAtomicsOnOneAddress) {
  const count::Launch one = with_atomics(3200, 100);
  const std::vector<Advice> advice = launch_advice({one, one}); // each line once
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].place, "count.cu:7");
  EXPECT_EQ(advice[0].factor, 32);
  EXPECT_THAT(advice_text(advice), HasSubstr("slow: count.cu:7: 32 lanes of a warp update one "));
}

TEST(Advice, IsSilentOnAtomicsOfFewLanes) {
  EXPECT_THAT(launch_advice({with_atomics(3200, 3200)}), IsEmpty());
  EXPECT_THAT(launch_advice({with_atomics(799, 100)}), IsEmpty());
  EXPECT_THAT(launch_advice({with_atomics(0, 0)}), IsEmpty());
}

TEST(Timing, OfALaunchThatNobodyWaitsFor) {
  const std::string before = "void f() {\n  auto a = clock::now();\n  k<<<1, 1>>>(p);\n";
  const std::string after = "  auto b = clock::now();\n}\n";
  const std::vector<Advice> advice = timing_advice("t.cu", before + after);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].place, "t.cu:3");
  EXPECT_THAT(advice[0].text, HasSubstr("cudaDeviceSynchronize()"));
  EXPECT_EQ(timing_advice("t.cu", before + "  // cudaDeviceSynchronize();\n" + after).size(), 1u);
  EXPECT_EQ(timing_advice("t.cu", before + "  cudaMemcpyAsync(a, b, 1, c);\n" + after).size(), 1u);
  for (const char* wait :
       {"cudaDeviceSynchronize();", "cudaStreamSynchronize(s);", "cudaEventSynchronize(e);",
        "cudaMemcpy(a, b, 1, c);", "cudaCheck(cudaDeviceSynchronize());"})
    EXPECT_THAT(timing_advice("t.cu", before + wait + "\n" + after), IsEmpty()) << wait;
}

TEST(Timing, IsSilentOnLaunchesThatAreNotTimed) {
  // Before the first look at the clock, after the last one, and in another function.
  EXPECT_THAT(timing_advice("t.cu", "void f() {\n  k<<<1, 1>>>(p);\n  t = now();\n}\n"), IsEmpty());
  EXPECT_THAT(timing_advice("t.cu", "void f() {\n  t = now();\n  k<<<1, 1>>>(p);\n}\n"
                                    "void g() {\n  t = now();\n}\n"),
              IsEmpty());
}

} // namespace
} // namespace kg::cost
