// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The results of an operation's correctness tests, from the file that the test program writes
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
  std::string message; // the failure message or the reason of a skip
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
  // By variant and kind of evidence (tests/support/ledger.h) that a test requires or shows: whether
  // it was shown.
  std::map<std::string, std::map<std::string, bool>> evidence;
};

// One run per type. A run that passes without the required evidence has failed, as in the test
// program. Throws Error with `file` if it is not from a correctness test.
std::vector<CorrectnessRun> correctness_from(const nlohmann::json& root, const std::string& file);

// 1 if a test failed, otherwise 0 if one passed, otherwise 77.
int exit_code(const CorrectnessRun& run);

// The command that repeats the tests of a type.
std::string test_command(const std::string& op, const std::string& dtype);

nlohmann::json to_json(const CorrectnessRun& run);

TestSuite junit_suite(const CorrectnessRun& run);

} // namespace kg::report
