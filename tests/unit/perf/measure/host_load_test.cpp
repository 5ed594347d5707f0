// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/host_load.h"

#include <gtest/gtest.h>

namespace kg::perf {
namespace {

TEST(HostLoad, ReadsTheFirstLineOfProcStat) {
  const auto time = parse_proc_stat("cpu  100 20 30 400 50 6 7 8 9 10\ncpu0 1 2 3\n", 100);
  ASSERT_TRUE(time.has_value());
  EXPECT_DOUBLE_EQ(time->busy, 1.71) << "neither idle nor waiting for a disk nor guests twice";
  EXPECT_DOUBLE_EQ(time->capacity, 6.21);
}

TEST(HostLoad, SaysNothingOfWhatItCannotRead) {
  for (const char* contents :
       {"", "cpu 1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu a b c d e f g h\n"})
    EXPECT_FALSE(parse_proc_stat(contents, 100).has_value()) << contents;
}

TEST(HostLoad, IsWhatOthersHadOfAllCores) {
  const CpuTime before{10, 100, 3};
  EXPECT_DOUBLE_EQ(foreign_load_pct(before, {15, 110, 5}), 30); // 5 s busy, 2 of them one's own
  EXPECT_EQ(foreign_load_pct(before, {11, 110, 5}), 0) << "ticks are coarse";
  EXPECT_EQ(foreign_load_pct(before, {10, 100, 3}), 0) << "no time has passed";
}

TEST(HostLoad, IsKnownHere) {
  const auto time = cpu_time();
  if (!time) GTEST_SKIP() << "this system has no /proc/stat";
  EXPECT_GT(time->capacity, 0);
  EXPECT_LE(time->busy, time->capacity);
}

} // namespace
} // namespace kg::perf
