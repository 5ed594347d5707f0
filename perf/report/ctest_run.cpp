// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/ctest_run.h"

#include "perf/format/json_reader.h"
#include "perf/judge/gate.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#if !KERNELGRADE_NO_XML
#include <pugixml.hpp>
#endif

namespace kg::report {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<TestState, std::string_view>, 7> kNames = {{
    {TestState::failed, "failed"},
    {TestState::not_run, "not run"},
    {TestState::timed_out, "timed out"},
    {TestState::disabled, "disabled"},
    {TestState::no_result, "without a result"},
    {TestState::passed, "passed"},
    {TestState::skipped, "skipped"},
}};

// One test in CTest's results.
struct Ran {
  std::string status; // run, fail, notrun, disabled
  std::string reason; // of a test that did not run
  std::string output;
  double seconds = 0;
};

// Empty if CTest has not finished since `begin`.
std::optional<std::map<std::string, Ran>> read_results(const fs::path& path,
                                                       fs::file_time_type begin) {
#if KERNELGRADE_NO_XML
  throw Error(
      path.string() +
      ": this build cannot read CTest's results; install libpugixml-dev and configure again");
#else
  std::error_code error;
  if (const fs::file_time_type written = fs::last_write_time(path, error); error || written < begin)
    return std::nullopt;
  pugi::xml_document document;
  if (!document.load_file(path.c_str())) return std::nullopt;
  std::map<std::string, Ran> tests;
  for (const pugi::xml_node test : document.child("testsuite").children("testcase"))
    tests[test.attribute("name").as_string()] = {
        test.attribute("status").as_string(),
        test.child("skipped").attribute("message").as_string(),
        test.child("system-out").text().as_string(), test.attribute("time").as_double()};
  return tests;
#endif
}

const nlohmann::json* property(const nlohmann::json& test, std::string_view name) {
  const auto properties = test.find("properties");
  if (properties == test.end()) return nullptr;
  for (const nlohmann::json& each : *properties)
    if (each.at("name") == name) return &each.at("value");
  return nullptr;
}

// The file that the test's command must write; empty if there is none.
fs::path result_file(const nlohmann::json& test) {
  constexpr std::string_view kGoogleTest = "--gtest_output=json:";
  const auto command = test.find("command");
  if (command == test.end()) return {};
  for (std::size_t i = 0; i < command->size(); ++i) {
    const std::string word = command->at(i);
    if (word.starts_with(kGoogleTest)) return word.substr(kGoogleTest.size());
    if (word.starts_with("--json=")) return word.substr(7);
    if (word == "--json" && i + 1 < command->size()) return command->at(i + 1).get<std::string>();
  }
  return {};
}

// What is wrong with the file; empty if nothing.
std::string complaint(const fs::path& file, fs::file_time_type begin) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(file, error);
  if (error) return "it left no file " + file.string();
  if (written < begin) return file.string() + " is older than this run";
  const std::optional<std::string> contents = read_file(file);
  if (!contents || contents->empty()) return file.string() + " is empty";
  if (!nlohmann::json::accept(*contents)) return file.string() + " is not complete JSON";
  return "";
}

// The most informative line of a test's output: the reason of a skip, otherwise the last line.
std::string last_words(const std::string& output) {
  std::string last;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::string line = output.substr(at, end - at);
    if (line.starts_with("skipped")) return line;
    if (!line.empty()) last = line;
    at = end + 1;
  }
  return last;
}

void conclude(PlannedTest& planned, const nlohmann::json& test, const Ran& ran,
              fs::file_time_type begin) {
  const nlohmann::json* const limit = property(test, "TIMEOUT");
  planned.message = last_words(ran.output);
  if (ran.status == "run") {
    planned.state = TestState::passed;
  } else if (ran.status == "fail") {
    planned.state =
        limit && ran.seconds >= limit->get<double>() ? TestState::timed_out : TestState::failed;
  } else if (ran.status == "disabled") {
    planned.state = TestState::disabled;
    planned.message = "CMake switches it off";
  } else {
    planned.state =
        ran.reason.starts_with("SKIP_RETURN_CODE") ? TestState::skipped : TestState::not_run;
    if (planned.state == TestState::not_run && planned.message.empty())
      planned.message = ran.reason;
  }
  if (planned.failed()) return;
  const fs::path file = result_file(test);
  // A test that is skipped as a whole may not write a file.
  if (file.empty() || planned.state == TestState::skipped) return;
  if (std::string what = complaint(file, begin); !what.empty()) {
    planned.state = TestState::no_result;
    planned.message = std::move(what);
  }
}

std::string command_again(const nlohmann::json& test, const std::string& name) {
  const nlohmann::json* const folder = property(test, "WORKING_DIRECTORY");
  std::string where = folder ? folder->get<std::string>() : ".";
  const fs::path near = fs::path(where).lexically_relative(fs::current_path());
  if (!near.empty() && *near.begin() != "..") where = near.string();
  return fmt::format("ctest --test-dir {} -R '^{}$' --output-on-failure", where, name);
}

// "112 passed, 1 not run", failures first.
std::string states(const std::vector<PlannedTest>& tests) {
  std::map<TestState, std::size_t> counts;
  for (const PlannedTest& test : tests) ++counts[test.state];
  std::string text;
  for (const auto& [state, word] : kNames)
    if (const auto found = counts.find(state); found != counts.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", found->second, word);
  return text;
}

} // namespace

std::string_view name(TestState state) {
  return std::find_if(kNames.begin(), kNames.end(),
                      [&](const auto& each) { return each.first == state; })
      ->second;
}

std::vector<PlannedTest> planned_tests(const fs::path& list, const fs::path& results) {
  const std::optional<std::string> contents = read_file(list);
  require(contents.has_value(),
          list.string() + ": no such file; write it by ctest --show-only=json-v1");
  const nlohmann::json root = judge::parse_json(*contents, list.string());
  require(
      root.contains("tests") && root["tests"].is_array() && !root["tests"].empty(),
      list.string() +
          ": it is not a list of tests, or an empty one; write it by ctest --show-only=json-v1");
  const fs::file_time_type begin = fs::last_write_time(list);
  const auto ran = read_results(results, begin);
  std::vector<PlannedTest> tests;
  for (const nlohmann::json& test : root["tests"]) {
    PlannedTest planned;
    planned.name = test.at("name");
    planned.again = command_again(test, planned.name);
    if (const nlohmann::json* const labels = property(test, "LABELS"))
      for (const std::string label : *labels) {
        if (label.starts_with("op_"))
          planned.op = label.substr(3);
        else if (!label.starts_with("cat_"))
          planned.label = label;
      }
    if (!ran) {
      planned.message = results.string() +
                        " is missing, cut off or of an earlier run: CTest did not come to its end";
    } else if (const auto found = ran->find(planned.name); found == ran->end()) {
      planned.message = "CTest's results do not mention it";
    } else {
      conclude(planned, test, found->second, begin);
    }
    tests.push_back(std::move(planned));
  }
  return tests;
}

std::string line(const std::vector<PlannedTest>& tests) {
  const std::string text = states(tests);
  return "tests: " + (text.empty() ? "none" : text);
}

std::string checkers_line(const std::vector<PlannedTest>& tests) {
  std::vector<PlannedTest> checkers;
  std::copy_if(
      tests.begin(), tests.end(), std::back_inserter(checkers),
      [](const PlannedTest& test) { return test.label == "checked" || test.label == "sanitize"; });
  if (checkers.empty()) return "checkers: not run; `./grade test` runs them";
  return "checkers: " + states(checkers);
}

nlohmann::json to_json(const PlannedTest& test) {
  return {{"name", test.name},         {"op", test.op},           {"label", test.label},
          {"state", name(test.state)}, {"message", test.message}, {"again", test.again}};
}

TestSuite junit_suite(const std::vector<PlannedTest>& tests) {
  TestSuite suite{"ctest", {}};
  for (const PlannedTest& test : tests)
    suite.cases.push_back(
        {"ctest." + test.label, test.name, 0,
         test.failed()                      ? judge::kExitFail
         : test.state == TestState::skipped ? judge::kExitSkip
                                            : judge::kExitPass,
         std::string(name(test.state)),
         test.message.empty() ? "again: " + test.again : test.message + "; again: " + test.again});
  return suite;
}

} // namespace kg::report
