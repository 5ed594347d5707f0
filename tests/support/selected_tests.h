// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks that test programs' main functions make before and after a run. Needs GoogleTest only.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

namespace kg::test {

// Whether the arguments contain --help or -h. Replaces -h by --help, the only one that GoogleTest
// knows.
inline bool asks_for_help(int argc, char** argv) {
  static char help[] = "--help";
  for (int i = 1; i < argc; ++i)
    if (argv[i] == std::string_view(help) || argv[i] == std::string_view("-h")) {
      argv[i] = help;
      return true;
    }
  return false;
}

// Whether the finished run had no test because the filter matches none; prints a message. Exempt
// are listing tests and shards, which may be empty.
inline bool selects_nothing() {
  if (GTEST_FLAG_GET(list_tests) || std::getenv("GTEST_TOTAL_SHARDS") != nullptr ||
      testing::UnitTest::GetInstance()->test_to_run_count() > 0)
    return false;
  std::printf("FAILED: no test matches --gtest_filter=%s; --gtest_list_tests names the tests\n",
              std::string(GTEST_FLAG_GET(filter)).c_str());
  return true;
}

} // namespace kg::test
