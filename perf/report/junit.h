// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test results in JUnit's XML, in the dialect that most CI systems read.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kg::report {

struct TestCase {
  std::string classname; // by which viewers group: "perf.copy.f32"
  std::string name;
  double seconds = 0;
  int exit_code = 0;   // 1: failed, 77: skipped, otherwise passed
  std::string verdict; // type of the failure
  std::string message; // of a failure or a skip; its first line is the title
  std::vector<std::pair<std::string, std::string>> properties = {};
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases;
};

// A case for a faulty file or run.
TestCase fault_case(const std::string& classname, const std::string& fault);

std::string junit_xml(const std::vector<TestSuite>& suites);

} // namespace kg::report
