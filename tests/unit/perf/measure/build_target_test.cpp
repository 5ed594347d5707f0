// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/build/target.h"

#include "runtime/error.h"
#include "runtime/temporary_folder.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

namespace kg::build {
namespace {

TEST(BuildTarget, OutstandingStepsTakeWhatTheLoggedOnesTook) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "build.ninja") << "rule touch\n  command = touch $out\n"
                                                  "build a: touch\nbuild b: touch a\n";
  EXPECT_EQ(outstanding(folder.path(), "b").steps, 2);
  EXPECT_EQ(outstanding(folder.path(), "b").seconds, 0) << "nothing has been built here yet";

  std::ofstream(folder.path() / ".ninja_log") << "# ninja log v5\n"
                                                 "0\t3000\t1\tx\t1\n1000\t6000\t1\ty\t2\n";
  EXPECT_EQ(outstanding(folder.path(), "a").steps, 1);
  EXPECT_DOUBLE_EQ(outstanding(folder.path(), "b").seconds,
                   2 * 4.0 / std::max(1u, std::thread::hardware_concurrency()));

  std::ofstream(folder.path() / "a").flush();
  std::ofstream(folder.path() / "b").flush();
  std::ofstream(folder.path() / "build.ninja") << "rule touch\n  command = touch $out\n"
                                                  "build all: phony\n";
  EXPECT_EQ(outstanding(folder.path(), "all").steps, 0);
  EXPECT_TRUE(is_up_to_date(folder.path(), "all"));
  EXPECT_THROW(outstanding(folder.path(), "no_such_target"), Error);
}

} // namespace
} // namespace kg::build
