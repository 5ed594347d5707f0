// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test results in the XML that CI systems show (JUnit's, in the dialect that most of them read).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kg::report {

struct TestCase {
  std::string classname; // what viewers group by: "perf.copy.f32"
  std::string name;
  double seconds = 0;
  int exit_code = 0;   // 1: failed, 77: skipped, else passed
  std::string verdict; // the type of the failure
  std::string message; // of a failure or a skip; the first line is its title
  std::vector<std::pair<std::string, std::string>> properties = {};
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases;
};

// A case that stands for a file or a run that is faulty.
TestCase fault_case(const std::string& classname, const std::string& fault);

std::string junit_xml(const std::vector<TestSuite>& suites);

} // namespace kg::report
