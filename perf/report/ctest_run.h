// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The outcome of CTest's tests. The list of tests is made before the run, so a test that did not
// run or left no result is a failure with a name.
#pragma once

#include "perf/report/junit.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kg::report {

enum class TestState {
  passed,
  failed,
  skipped,   // by exit code 77
  not_run,   // CTest says so, or its results omit the test
  timed_out, // it reached its time limit
  disabled,
  no_result // it passed or was skipped, but its result file is missing, empty, broken
            // or older than the run
};
std::string_view name(TestState state); // "not run", ...

struct PlannedTest {
  std::string name;  // "cost.softmax"
  std::string op;    // from its label op_<op>; empty if none
  std::string label; // its tier: "perf"
  TestState state = TestState::not_run;
  std::string message; // details of a test that did not pass
  std::string again;   // the command that repeats the test

  bool failed() const { return state != TestState::passed && state != TestState::skipped; }
};

// `list`: output of `ctest --show-only=json-v1` before the run. `results`: output of `ctest
// --output-junit`. If that file is missing, truncated or older than the list, CTest did not finish,
// and all tests count as not run. Throws Error if `list` is not such a list.
std::vector<PlannedTest> planned_tests(const std::filesystem::path& list,
                                       const std::filesystem::path& results);

// "tests: 112 passed, 1 not run, 3 skipped"
std::string line(const std::vector<PlannedTest>& tests);

// The results of the checked builds and the sanitizers: "checkers: 70 passed, 1 failed". If none
// was to run, how to run them.
std::string checkers_line(const std::vector<PlannedTest>& tests);

nlohmann::json to_json(const PlannedTest& test);

// A suite with one case per CTest test.
TestSuite junit_suite(const std::vector<PlannedTest>& tests);

} // namespace kg::report
