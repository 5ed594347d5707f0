// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/check/findings.h"

#include "runtime/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kg::program {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

std::string event(const std::string& kind, const std::string& text) {
  return kind + "\n" + text + '\0';
}

const std::string kRace =
    "[race] kernel sum<float>, block (0,0,0), thread (0,0,0) writes 4 bytes at /home/me/a b.cu:42: "
    "byte 0 of __shared__ s, which thread (126,0,0) read at /home/me/sub/x.h:35; nothing orders "
    "the "
    "two\n  hint: put __syncthreads() between the two\n  3 times at these lines";

TEST(Findings, OfARaceHaveBothPlaces) {
  const Events events = read_events(event("fault", kRace), "/home/me");
  ASSERT_EQ(events.findings.size(), 1u);
  const Finding& race = events.findings[0];
  EXPECT_EQ(race.rule, "race");
  EXPECT_TRUE(race.fails);
  EXPECT_EQ(race.kernel, "sum<float>");
  EXPECT_EQ(race.hint, "put __syncthreads() between the two");
  ASSERT_EQ(race.places.size(), 2u);
  EXPECT_EQ(race.places[0].file, "a b.cu");
  EXPECT_EQ(race.places[0].line, 42);
  EXPECT_EQ(race.places[1].file, "sub/x.h");
  EXPECT_EQ(race.places[1].line, 35);
  EXPECT_THAT(race.text, HasSubstr(" at a b.cu:42: "));
}

TEST(Findings, OfOneFaultAreTakenApart) {
  const Events events = read_events(
      event("fault", kRace +
                         "\n[out-of-bounds] kernel k, block (1,0,0), thread (2,0,0) reads 4 "
                         "bytes at k.cu:7: 4 bytes behind the end\n  hint: guard it\nand 3 more"),
      "/home/me");
  EXPECT_THAT(events.findings,
              ElementsAre(Field(&Finding::rule, "race"), Field(&Finding::rule, "out-of-bounds")));
  EXPECT_THAT(events.findings.back().text, HasSubstr("\nand 3 more"));
}

TEST(Findings, OfOtherKinds) {
  const auto rule = [](const std::string& kind, const std::string& text) {
    return read_events(event(kind, text), "/").findings.at(0).rule;
  };
  EXPECT_EQ(rule("fault", "deadlock in kernel k, block (0,0,0): no thread can continue"),
            "deadlock");
  EXPECT_EQ(rule("fault", "divergent barrier in kernel k, block (0,0,0): ..."),
            "divergent-barrier");
  EXPECT_EQ(rule("refused", "k.cu:7: launch of k: a block of (2048,1,1) threads"),
            "launch-refused");
  EXPECT_EQ(rule("fault", "something else"), "fault");
  const Events leak = read_events(event("leak", "[leak] a buffer of 4 bytes"), "/");
  EXPECT_EQ(leak.findings.at(0).rule, "leak");
  EXPECT_FALSE(leak.findings.at(0).fails);
  const Events unread = read_events(event("unread", "[unread] nothing reads the buffer"), "/");
  EXPECT_EQ(unread.findings.at(0).rule, "unread");
  EXPECT_FALSE(unread.findings.at(0).fails);
}

TEST(Findings, NameTheFirstKernel) {
  const auto kernel = [](const std::string& text) {
    return read_events(event("fault", text), "/").findings.at(0).kernel;
  };
  EXPECT_EQ(kernel("[race] kernel twice<int, 4> reads 1024 bytes at k.cu:15 (stream 2, launched at "
                   "k.cu:40): byte 0 of a buffer of 4096 bytes, which kernel fill writes at k.cu:9 "
                   "(stream 1); nothing orders the two"),
            "twice<int, 4>");
  EXPECT_EQ(kernel("[race] kernel sum accesses atomically 4 bytes at k.cu:15 (stream 2): byte 0 of "
                   "a buffer of 4 bytes, which cudaMemsetAsync writes at k.cu:9 (stream 1); "
                   "nothing orders the two"),
            "sum");
  EXPECT_EQ(kernel("[freed] cudaFreeAsync frees 4096 bytes at k.cu:50 (stream 1): byte 0 of a "
                   "buffer of 4096 bytes, which kernel fill writes at k.cu:9 (stream 2); nothing "
                   "orders the two"),
            "fill");
  EXPECT_EQ(kernel("[race] the host reads 4 bytes at k.cu:60, which kernel fill writes at k.cu:9; "
                   "nothing has waited for it"),
            "fill");
  EXPECT_EQ(kernel("deadlock in kernel kg::wait: no thread can continue"), "kg::wait");
  EXPECT_EQ(kernel("k.cu:7: launch of k: a block of (2048,1,1) threads"), "k");
  EXPECT_EQ(kernel("[uninitialised] the copy to the host at k.cu:7 takes 4 of its 4 bytes"), "");
}

TEST(Findings, OfARefusedLaunchNameItsLine) {
  const Events events =
      read_events(event("refused", "/p/k.cu:7: launch of k: a block of (2048,1,1) threads"), "/p");
  ASSERT_EQ(events.findings.at(0).places.size(), 1u);
  EXPECT_EQ(events.findings[0].places[0].file, "k.cu");
  EXPECT_EQ(events.findings[0].places[0].line, 7);
}

TEST(Findings, CountTheLaunchesOfAllProcesses) {
  EXPECT_EQ(read_events(event("launches", "3") + event("launches", "39"), "/").launches, 42u);
  EXPECT_EQ(read_events("", "/").launches, 0u);
}

TEST(Findings, OfADamagedFileAreAnError) {
  EXPECT_THROW(read_events("fault\nno end", "/"), Error);
  EXPECT_THROW(read_events(std::string("no line\0", 8), "/"), Error);
}

} // namespace
} // namespace kg::program
