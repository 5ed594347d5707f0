// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What became of the tests that CTest was to run. The list is CTest's own, made before the run, so
// that a test that did not run, or left nothing, is a failure with a name.
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
  not_run,   // CTest says so, or its results do not mention the test
  timed_out, // it took as long as it may
  disabled,
  no_result // it passed or was skipped, but the file that it was to leave is missing, empty, broken
            // or older than the run
};
std::string_view name(TestState state); // "not run", ...

struct PlannedTest {
  std::string name;  // "cost.softmax"
  std::string op;    // of its label op_<op>; empty where it has none
  std::string label; // its tier: "perf"
  TestState state = TestState::not_run;
  std::string message; // what is known of a test that did not pass
  std::string again;   // the command that runs it again

  bool failed() const { return state != TestState::passed && state != TestState::skipped; }
};

// `list`: what `ctest --show-only=json-v1` printed before the run. `results`: what `ctest
// --output-junit` wrote in it; where that file is missing, cut off or older than the list, CTest
// did not come to its end, and none of the tests has run. Throws Error where the list is none.
std::vector<PlannedTest> planned_tests(const std::filesystem::path& list,
                                       const std::filesystem::path& results);

// "tests: 112 passed, 1 not run, 3 skipped"
std::string line(const std::vector<PlannedTest>& tests);

// What the watched builds of the kernels and the sanitizers found: "checkers: 70 passed, 1 failed",
// or, where none of them was to run, how to run them.
std::string checkers_line(const std::vector<PlannedTest>& tests);

nlohmann::json to_json(const PlannedTest& test);

// A suite with a case for each of CTest's tests.
TestSuite junit_suite(const std::vector<PlannedTest>& tests);

} // namespace kg::report
