// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/source_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::cost {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Of 100 blocks, each of whose threads goes back and forth so often, that moves so many MiB.
count::Launch launch(std::uint64_t trips, std::uint64_t mebibytes) {
  count::Launch launch;
  launch.kernel = "add<float>";
  launch.grid = {100, 1, 1};
  launch.block = {256, 1, 1};
  launch.round_trips = 100 * trips;
  launch.unique_read = (mebibytes << 20) / 32;
  return launch;
}

const std::string kParameters = "const float* a, const float* b, float* out, int n";

std::string kernel(const std::string& parameters, const std::string& before = "") {
  return "// add\ntemplate <class T>\n__global__ void " + before + " add(" + parameters +
         ") {\n}\n";
}

TEST(AliasAdvice, NamesTheKernelWhoseLoadsWait) {
  for (const char* before : {"", "__launch_bounds__(256)"}) {
    const auto advice =
        alias_advice({launch(8, 1), launch(8, 1)}, "k.cu", kernel(kParameters, before));
    ASSERT_EQ(advice.size(), 1u) << before;
    EXPECT_EQ(advice[0].place, "k.cu:3");
    EXPECT_THAT(advice[0].text, HasSubstr("loads of kernel add wait for the stores before them"));
    // 194 threads of a multiprocessor have 5.12 bytes each in flight, of 7,799 that it needs
    EXPECT_NEAR(advice[0].factor, 7799 / (194 * 5.12), 0.01);
  }
}

TEST(AliasAdvice, FactorIsAtMostThatOfTheRoundTripsAndNoneWhereEnoughIsInFlight) {
  const auto factor = [](const count::Launch& launch) {
    return alias_advice({launch}, "k.cu", kernel(kParameters)).at(0).factor;
  };
  count::Launch few = launch(8, 1);
  few.block = {32, 1, 1};
  few.grid = {1000, 1, 1};
  few.round_trips = 8000;
  EXPECT_NEAR(factor(few), 7799 / (243 * 4.096), 0.01);
  EXPECT_EQ(factor(launch(8, 64)), 0);
  EXPECT_NEAR(factor(launch(1000, 1)), 7799 / (194 * 0.04096), 0.1);
}

TEST(AliasAdvice, IsSilentWhereNoLoadWaits) {
  const std::string text = kernel(kParameters);
  EXPECT_THAT(alias_advice({launch(7, 1)}, "k.cu", text), IsEmpty());
  EXPECT_THAT(alias_advice({launch(8, 0)}, "k.cu", text), IsEmpty());
  EXPECT_THAT(
      alias_advice({launch(8, 1)}, "k.cu", "__global__ void other(const float* a, float* b) {}"),
      IsEmpty());
  for (const char* parameters :
       {"const float* __restrict__ a, float* out", "const float* a, float* __restrict out",
        "float* in_place, int n", "const float* a, const float* b", "int n"})
    EXPECT_THAT(alias_advice({launch(8, 1)}, "k.cu", kernel(parameters)), IsEmpty()) << parameters;
  count::Launch meets = launch(8, 1);
  meets.barriers = 100;
  EXPECT_THAT(alias_advice({meets}, "k.cu", text), IsEmpty());
  count::Launch updates = launch(8, 1);
  updates.sites.push_back({.line = "k.cu:4", .access = count::Access::atomic});
  EXPECT_THAT(alias_advice({updates}, "k.cu", text), IsEmpty());
  count::Launch unnamed = launch(8, 1);
  unnamed.kernel = "main::{lambda(int)#1}";
  EXPECT_THAT(alias_advice({unnamed}, "k.cu", text), IsEmpty());
}

const std::string kTimed = "int main() {\n  cudaEventRecord(a);\n"
                           "  for (int i = 0; i < 9; ++i) add<float><<<100, 256>>>(x, y);\n";
const std::string kEnd = "  cudaEventRecord(b);\n}\n";
using Launches = std::vector<count::Launch>;

TEST(CacheAdvice, NamesTheLaunchThatIsTimed) {
  const auto advice = cache_advice(Launches(9, launch(1, 40)), "k.cu", kTimed + kEnd);
  ASSERT_EQ(advice.size(), 1u);
  EXPECT_EQ(advice[0].place, "k.cu:3");
  EXPECT_THAT(advice[0].text, HasSubstr("9 launches in a row move 40 MiB"));
  EXPECT_EQ(cache_advice(
                Launches(9, launch(1, 40)), "k.cu",
                "void f() {\n  cudaMemset(x, 0, 1);\n  for (;;) {\n    t = clock();\n"
                "    add<<<1, 1>>>(x);\n    cudaDeviceSynchronize();\n    t = clock();\n  }\n}\n")
                .size(),
            1u);
}

TEST(CacheAdvice, IsSilentWhereDataComeFromMemory) {
  const auto of = [](const Launches& launches, const std::string& text) {
    return cache_advice(launches, "k.cu", text);
  };
  const Launches small(9, launch(1, 40));
  EXPECT_THAT(of(Launches(9, launch(1, 51)), kTimed + kEnd), IsEmpty());
  EXPECT_THAT(of(Launches(9, launch(1, 0)), kTimed + kEnd), IsEmpty());
  EXPECT_THAT(of(Launches(2, launch(1, 40)), kTimed + kEnd), IsEmpty());
  count::Launch other = launch(1, 60);
  other.kernel = "fill";
  EXPECT_THAT(of({small[0], other, small[0], other, small[0]}, kTimed + kEnd), IsEmpty());
  EXPECT_THAT(of(small, kTimed + "  }\n}\n"), IsEmpty()); // nobody looks at the clock again
  EXPECT_THAT(of(small, "int main() {\n  add<<<1, 1>>>(x);\n  t = clock();\n}\n"), IsEmpty());
  EXPECT_THAT(of(small, kTimed + "  flush_cache();\n" + kEnd), IsEmpty());
  EXPECT_THAT(of(small, "int main() {\n  for (;;) {\n  cudaMemsetAsync(x, 0, n, s);\n" +
                            kTimed.substr(kTimed.find("  cudaEvent")) + kEnd),
              IsEmpty());
}

} // namespace
} // namespace kg::cost
