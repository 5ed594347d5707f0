// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operation's correctness tests said, from the file that their program writes
// (--gtest_output=json:FILE).
#pragma once

#include "perf/report/junit.h"

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kg::report {

struct Remark {
  std::string test;
  std::string message; // of a failure what it says, of a skip the reason
  double seconds = 0;
};

// The tests of one type of an operation.
struct CorrectnessRun {
  std::string op;
  std::string dtype;
  std::vector<Remark> passed;
  std::vector<Remark> failed;
  std::vector<Remark> skipped;
  double seconds = 0;
  // By variant and kind of evidence (tests/support/ledger.h), of what a test demands or shows:
  // whether it was shown.
  std::map<std::string, std::map<std::string, bool>> evidence;
};

// A run per type. A run whose tests pass without showing what they demand has failed, as it has for
// the tests' program. Throws Error, naming `file`, where it is not of a correctness test.
std::vector<CorrectnessRun> correctness_from(const nlohmann::json& root, const std::string& file);

// 1 if a test failed, else 0 if one passed, else 77.
int exit_code(const CorrectnessRun& run);

// The command that runs the tests of a type again.
std::string test_command(const std::string& op, const std::string& dtype);

nlohmann::json to_json(const CorrectnessRun& run);

TestSuite junit_suite(const CorrectnessRun& run);

} // namespace kg::report
