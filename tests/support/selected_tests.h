// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the mains of test programs ask before and after a run. Of GoogleTest alone.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace kg::test {

// Whether --help or -h is among the arguments; GoogleTest, which knows the first alone, then finds
// it there.
inline bool asks_for_help(int argc, char** argv) {
  static char help[] = "--help";
  for (int i = 1; i < argc; ++i)
    if (argv[i] == std::string_view(help) || argv[i] == std::string_view("-h")) {
      argv[i] = help;
      return true;
    }
  return false;
}

// Whether the run that ended had no test, since the filter matches none; says so. Not a list of
// tests, nor one shard of several, which may have none.
inline bool selects_nothing() {
  if (GTEST_FLAG_GET(list_tests) || std::getenv("GTEST_TOTAL_SHARDS") != nullptr ||
      testing::UnitTest::GetInstance()->test_to_run_count() > 0)
    return false;
  std::printf("FAILED: no test matches --gtest_filter=%s; --gtest_list_tests names the tests\n",
              std::string(GTEST_FLAG_GET(filter)).c_str());
  return true;
}

} // namespace kg::test
