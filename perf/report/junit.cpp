// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/junit.h"

#include "perf/format/sinks.h"
#include "perf/judge/gate.h"

#include <fmt/format.h>

namespace kg::report {
namespace {

struct Counts {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t skips = 0;
  double seconds = 0;
};

void add(Counts& counts, const TestCase& test) {
  ++counts.tests;
  counts.failures += test.exit_code == judge::kExitFail;
  counts.skips += test.exit_code == judge::kExitSkip;
  counts.seconds += test.seconds;
}

// A message of several lines also becomes the element's text: viewers show the attribute in lists.
std::string outcome(const TestCase& test) {
  const std::string title = judge::for_xml(test.message.substr(0, test.message.find('\n')));
  const bool longer = test.message.find('\n') != std::string::npos;
  if (test.exit_code == judge::kExitSkip)
    return fmt::format("   <skipped message=\"{}\"/>\n", judge::for_xml(test.message));
  if (test.exit_code != judge::kExitFail) return "";
  return fmt::format("   <failure type=\"{}\" message=\"{}\"{}\n", judge::for_xml(test.verdict),
                     title, longer ? ">" + judge::for_xml(test.message) + "</failure>" : "/>");
}

std::string xml(const TestCase& test) {
  std::string text =
      fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.9f}\">\n",
                  judge::for_xml(test.classname), judge::for_xml(test.name), test.seconds);
  if (!test.properties.empty()) {
    text += "   <properties>\n";
    for (const auto& [name, value] : test.properties)
      text += fmt::format("   <property name=\"{}\" value=\"{}\"/>\n", name, judge::for_xml(value));
    text += "   </properties>\n";
  }
  return text + outcome(test) + "  </testcase>\n";
}

} // namespace

TestCase fault_case(const std::string& classname, const std::string& fault) {
  return {classname, "fault", 0, judge::kExitFail, "fault", fault};
}

std::string junit_xml(const std::vector<TestSuite>& suites) {
  Counts all;
  std::string text;
  for (const TestSuite& suite : suites) {
    Counts counts;
    std::string cases;
    for (const TestCase& test : suite.cases) {
      add(counts, test);
      add(all, test);
      cases += xml(test);
    }
    text += fmt::format(" <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
                        "skipped=\"{}\" time=\"{:.9f}\">\n{} </testsuite>\n",
                        judge::for_xml(suite.name), counts.tests, counts.failures, counts.skips,
                        counts.seconds, cases);
  }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                     "<testsuites name=\"kernelgrade\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
                     "skipped=\"{}\" time=\"{:.9f}\">\n{}</testsuites>\n",
                     all.tests, all.failures, all.skips, all.seconds, text);
}

} // namespace kg::report
